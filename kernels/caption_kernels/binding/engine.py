"""The choice of the engine, made once when the package is imported."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec

REFERENCE = "caption_kernels_reference"
VARIABLE = "CAPTION_KERNELS"
_TOLD = "CAPTION_KERNELS_TOLD"
"""Set by this process for its children, which need not repeat the line."""
_HELP = "install a C++20 compiler or `pip install ziglang`, then the package again"
_INSTALL_REFERENCE = "`pip install caption-kernels-reference`"


def _choose_engine() -> tuple[str, str]:
    """Return engine and build hash; raise :class:`ImportError`, one line, for an engine
    that is not there or has no such name.
    """
    setting = os.environ.get(VARIABLE, "")
    if setting not in ("", "compiled", "reference"):
        raise ImportError(
            f"{VARIABLE} is {setting!r}; expected 'compiled' or 'reference'"
        )
    if setting != "reference":
        try:
            return "compiled", str(
                import_module("caption_kernels._compiled").build_hash
            )
        except ImportError as error:
            missing = (
                isinstance(error, ModuleNotFoundError)
                and error.name == "caption_kernels._compiled"
            )
            reason = (
                "the compiled extension "
                f"{'is not installed' if missing else f'cannot be loaded ({error})'}"
            )
            if setting:
                raise ImportError(f"caption_kernels: {reason}; {_HELP}") from error
            if find_spec(REFERENCE) is None:
                raise ImportError(
                    f"caption_kernels: {reason}; {_HELP}, or {_INSTALL_REFERENCE}, "
                    "which is slow"
                ) from error
            _tell(
                f"caption_kernels: {reason}, the slow reference engine runs instead; "
                f"{_HELP}"
            )
    elif find_spec(REFERENCE) is None:
        raise ImportError(
            "caption_kernels: the reference engine is not installed; "
            f"{_INSTALL_REFERENCE}"
        )
    return "reference", _hash_of_sources()


def _tell(line: str) -> None:
    """Log a warning, which goes to standard error where no logging is set up; once for
    a process and its children.
    """
    from logging import getLogger

    if _TOLD not in os.environ:
        getLogger("caption_kernels").warning(line)
        os.environ[_TOLD] = "1"


def _hash_of_sources() -> str:
    """Return 16 hex digits of SHA-256 over the files of the reference engine, as CMake
    computes those of the extension.
    """
    from hashlib import sha256
    from pathlib import Path

    spec = find_spec(REFERENCE)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    files = sorted(
        path.relative_to(folder).as_posix()
        for pattern in ("*.py", "*.json")
        for path in folder.rglob(pattern)
    )
    lines = (
        f"{sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in files
    )
    return sha256("".join(lines).encode()).hexdigest()[:16]


engine, build_hash = _choose_engine()
