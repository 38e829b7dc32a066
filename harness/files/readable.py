"""Files in binary formats that may be damaged or lie about their sizes."""

from __future__ import annotations

import contextlib
import pickle
import struct
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path

from harness.errors import InputError

DAMAGED = (
    OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RuntimeError, SystemError,
    struct.error, zlib.error, zipfile.BadZipFile, pickle.UnpicklingError,
)  # fmt: skip
"""Errors that libraries raise for a truncated file, another kind of file, or a header that does not fit the content."""


@contextlib.contextmanager
def readable(path: Path, noun: str) -> Generator[None]:
    """Context in which a library reads a file: its errors are raised as :class:`InputError` with the path.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        Description of a file that is as expected: ``.npz of arrays``.

    Raises
    ------
    InputError
        The file is not as expected, or its header asks for more memory than there is.
    """
    try:
        yield
    except MemoryError as error:
        size = path.stat().st_size if path.is_file() else 0
        text = f"asks for more memory than there is ({size:,} bytes on disk{_first_line(error)}); not a complete {noun}?"
        raise InputError(text, str(path)) from error
    except DAMAGED as error:
        raise InputError(f"not a complete {noun}{_reason(error)}", str(path)) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"; {lines[0][:160]}" if lines else ""


def _reason(error: BaseException) -> str:
    """Return the first line of a message in parentheses; the name of the error where it has none."""
    text = _first_line(error).removeprefix("; ")
    return f" ({text})" if text else f" ({type(error).__name__})"
