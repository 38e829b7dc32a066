"""The cache of machine code: damaged files are absent ones, code is compiled again and the numbers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from harness.plugins.compiled.checked_cache import cached

@cached
def double(x):
    return 2 * x
"""
CALL = "import kernels; print(kernels.double(21), sum(kernels.double.stats.cache_hits.values()))"


def call(folder: Path, **variables: str) -> tuple[str, str]:
    """Return stdout and stderr of a process that calls the kernel."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "code"), "PYTHONPATH": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", CALL], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A folder with a module of one kernel and its machine code."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.py").write_text(MODULE)
    assert call(folder) == ("42 0", "")
    assert call(folder) == ("42 1", ""), "the code is read from the cache"
    return folder


def empty(data: bytes) -> bytes:
    return b""


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [empty, half, flipped])
def test_a_damaged_file_is_compiled_again_with_one_note(kernels, kind, damage):
    (file,) = (kernels / "code").rglob(f"*.{kind}")
    file.write_bytes(damage(file.read_bytes()))
    out, err = call(kernels)
    assert out == "42 0"
    assert err == f"note: {file} is damaged; the code is compiled again\n"
    assert call(kernels) == ("42 1", "")


def test_a_missing_data_file_is_written_again(kernels):
    (file,) = (kernels / "code").rglob("*.nbc")
    file.unlink()
    assert call(kernels) == ("42 0", "")
    assert call(kernels) == ("42 1", "")


def test_a_pickle_in_place_of_a_file_is_not_read(kernels):
    import pickle

    class Evil:
        def __reduce__(self):
            return open, (str(kernels / "PWNED"), "w")

    for file in (kernels / "code").rglob("*.nb?"):
        file.write_bytes(pickle.dumps(Evil()))
    out, err = call(kernels)
    assert (out, err.count("\n")) == ("42 0", 1)
    assert not (kernels / "PWNED").exists()


def test_without_compilation_functions_stay_functions(kernels):
    code = "import kernels; print(kernels.double(21))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(kernels)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=kernels, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "42\n", done.stderr
