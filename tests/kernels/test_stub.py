"""The committed stub of the extension and the hash of its sources are those of the
installed extension.
"""

from __future__ import annotations

import hashlib
import runpy

import pytest

compiled = pytest.importorskip("caption_kernels._compiled")


def test_the_stub_is_that_of_the_extension(root):
    """`make stub` writes it."""
    pytest.importorskip("nanobind.stubgen")
    module = runpy.run_path(str(root / "kernels/generators/make_stub.py"))
    assert module["stub"]() == module["STUB"].read_text(encoding="utf-8")


def with_former_name(source: bytes) -> bytes:
    """Return a source with the name that the reference engine had as a part of this
    package, as ``build_hash.cmake`` reads it.
    """
    name = b"caption_kernels_reference"
    return source.replace(name + b"/", b"caption_kernels/reference/").replace(
        name, b"caption_kernels.reference"
    )


def test_the_extension_is_built_from_the_sources_of_this_checkout(root):
    """`make` builds it again."""
    folder = root / "kernels"
    files = sorted(
        path.relative_to(folder).as_posix()
        for name in ("core", "include", "binding")
        for path in (folder / name).iterdir()
    )
    lines = (
        f"{hashlib.sha256(with_former_name((folder / name).read_bytes())).hexdigest()} "
        f" {name}\n"
        for name in files
    )
    assert (
        compiled.build_hash == hashlib.sha256("".join(lines).encode()).hexdigest()[:16]
    )
