"""Keys of numba's cache of machine code.

numba recompiles a cached function when the file that defines it changes. The machine code also contains the functions that
it calls, whatever file defines them. An entry point that calls functions of other files therefore closes over a stamp of
those files, which numba makes part of the key.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import HarnessError

INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of a function that only compiled functions call: no entry point from Python, half the compile time."""

ONCE: dict[str, Any] = {**INNER, "inline": "always"}
"""Options of a function with one caller: inlined before type inference, which compiles faster."""


def source_stamp(*files: str | None) -> int:
    """Return a CRC-32 of the content of source files.

    Parameters
    ----------
    *files : str or None
        ``__file__`` of modules. None and files that do not exist are skipped.
    """
    stamp = 0
    for name in files:
        if name is not None and Path(name).is_file():
            stamp = zlib.crc32(Path(name).read_bytes(), stamp)
    return stamp


@contextmanager
def imported() -> Iterator[None]:
    """Context of the first import of compiled functions.

    Raises
    ------
    HarnessError
        When numba finds no writable cache folder, neither beside the source nor in the user's cache; the message names the
        environment variable to set.
    """
    try:
        yield
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        raise HarnessError(
            "no writable folder for compiled code: set NUMBA_CACHE_DIR to a writable folder (10 MB)"
        ) from error
