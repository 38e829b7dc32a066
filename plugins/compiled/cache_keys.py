"""Keys for numba's cache of machine code.

numba recompiles a cached function when the file that defines it changes, but machine code holds the functions it calls, whatever their
file. An entry point that calls into other files therefore closes over a stamp of all of them, which numba makes part of its key.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a compiled function that only compiled functions call: no code to enter it from outside, half its compile time."""

ONCE: dict[str, Any] = {**INNER, "inline": "always"}
"""Options of a function with one caller: written into it before types are inferred, which compiles sooner."""


def source_stamp(*files: str | None) -> int:
    """A number that changes with the content of any of the source files (``__file__`` of their modules)."""
    stamp = 0
    for name in files:
        if name is not None and Path(name).is_file():
            stamp = zlib.crc32(Path(name).read_bytes(), stamp)
    return stamp


@contextmanager
def imported() -> Iterator[None]:
    """Around the first import of compiled functions: numba refuses to keep machine code where it finds no folder to write to, neither
    beside the source nor in the user's cache; then :class:`HarnessError` says what to set."""
    try:
        yield
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        raise HarnessError(
            "no folder for compiled code can be written to: set NUMBA_CACHE_DIR to one (10 MB)"
        ) from error
