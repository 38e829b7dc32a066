"""Input that may be damaged or whose size is not known before it is read: gzip streams,
lines, archives, pipes, binary formats.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import pickle
import shutil
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from typing import IO, AnyStr

from harness.errors import InputError

MAX_RATIO = 200
"""Maximum size of compressed content over its size on disk; text has 3 to 20."""
UNCHECKED_BYTES = 16 << 20
"""Size up to which any ratio is accepted, for files."""
UNCHECKED_ARRAY_BYTES = 512 << 20
"""The same for arrays, which may be constant."""
MAX_LINE = 256 << 20
"""Maximum number of bytes, or characters, of a line."""
DAMAGED = (
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    SystemError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    pickle.UnpicklingError,
    tokenize.TokenError,
)
"""Errors that libraries raise for a truncated file, another kind of file, or a header
that does not fit the content.
"""


class BoundedGzip(gzip.GzipFile):
    """Gzip file for reading that raises :class:`InputError` as soon as its content is
    :data:`MAX_RATIO` times as large as what was read.
    """

    def read(self, size: int | None = -1) -> bytes:
        """Return up to ``size`` bytes of the content, all by default."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        data = super().read(size)
        packed = os.lseek(self.fileno(), 0, os.SEEK_CUR)
        if self.tell() > max(UNCHECKED_BYTES, MAX_RATIO * packed):
            raise InputError(
                f"the gzip file expands to more than {MAX_RATIO} times its size; "
                "if that is right, gunzip it",
                str(self.name),
            )
        return data


class BoundedZstandard(io.RawIOBase):
    """Zstandard file for reading, bounded as :class:`BoundedGzip`.

    Raises :class:`InputError` for content that is :data:`MAX_RATIO` times as large as
    what was read, and for a broken stream.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa  # has the decompressor that Parquet needs; slow to import

        self._path = path
        self._file = path.open("rb")
        self._stream = pa.CompressedInputStream(pa.PythonFile(self._file, "r"), "zstd")
        self._size = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read up to the size of a buffer into it, and return the number of bytes; 0 at
        the end.
        """
        try:
            data = self._stream.read(len(buffer))
        except OSError as error:
            raise InputError(
                f"the zst file is broken or cut off: {error}", str(self._path)
            ) from error

        self._size += len(data)
        if self._size > max(UNCHECKED_BYTES, MAX_RATIO * self._file.tell()):
            raise InputError(
                f"the zst file expands to more than {MAX_RATIO} times its size; "
                "if that is right, unzstd it",
                str(self._path),
            )

        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def lines_of(file: IO[AnyStr], location: str) -> Iterator[tuple[int, AnyStr]]:
    """Return the lines of a file from 1, with their ends; raise :class:`InputError` for
    one of more than :data:`MAX_LINE`.
    """
    numbers = count(1)

    def read_line() -> AnyStr:
        number = next(numbers)
        line = file.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise InputError(
                f"the line is longer than {MAX_LINE >> 20} MiB; "
                "expected one record per line",
                f"{location}:{number}",
            )
        return line

    # Reading nothing gives the empty text or bytes that stand for the end.
    return enumerate(iter(read_line, file.read(0)), 1)


def check_expansion(archive: zipfile.ZipFile) -> None:
    """Raise ValueError for an archive of arrays that is large and :data:`MAX_RATIO`
    times as large as on disk.
    """
    size = sum(item.file_size for item in archive.infolist())
    packed = sum(item.compress_size for item in archive.infolist())
    if size > max(UNCHECKED_ARRAY_BYTES, MAX_RATIO * packed):
        raise ValueError(f"{packed:,} bytes expand to {size:,}")


class SpooledPath(type(Path())):
    """Path of a pipe whose content was copied to a temporary file: it has the name of
    the pipe, and opens the copy.
    """

    content: IO[bytes] | None = None
    """The temporary file, which lives as long as a path of it."""

    def __fspath__(self) -> str:
        return str(self) if self.content is None else self.content.name


class PartPath(type(Path())):
    """Path of a part of a file, written ``FILE#PART``: it has the name with the part,
    and opens the file.
    """

    whole: Path | None = None
    """Path of the file."""
    part: str = ""
    """Name of the part: a sheet of a workbook, a language."""

    @classmethod
    def of(cls, whole: Path, part: str) -> PartPath:
        """Return the path of a part of a file."""
        path = cls(f"{whole}#{part}")
        path.whole = whole
        path.part = part
        return path

    def __fspath__(self) -> str:
        return str(self) if self.whole is None else os.fspath(self.whole)


_spooled: dict[tuple[int, int], IO[bytes]] = {}
"""Copies of the pipes that have no name of their own (``/dev/stdin``, ``<(...)``), by
device and inode: several components read them.
"""


def spool_pipe(pipe: Path) -> Path:
    """Return a path that opens a copy of the content of a pipe, which is read to its
    end; raise :class:`InputError` where that fails.
    """
    path = SpooledPath(pipe)
    status = pipe.stat()
    key = status.st_dev, status.st_ino
    path.content = _spooled.get(key)
    if path.content is not None:
        return path

    try:
        # It is closed with the path.
        content = tempfile.NamedTemporaryFile(prefix="harness-pipe-")  # noqa: SIM115
        path.content = content
        with pipe.open("rb") as file:
            shutil.copyfileobj(file, content)
        content.flush()
    except OSError as error:
        raise InputError(
            f"cannot be read as a pipe: {error.strerror or error}", str(pipe)
        ) from error

    # A pipe with a name of its own may be written to again.
    if not os.path.exists(os.path.realpath(pipe)):
        _spooled[key] = content
    return path


@contextlib.contextmanager
def readable(path: Path, noun: str) -> Generator[None]:
    """Context in which a library reads a file: its errors are raised as
    :class:`InputError` with the path.

    Parameters
    ----------
    path : Path
        The file.
    noun : str
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
        raise InputError(
            "asks for more memory than there is "
            f"({size:,} bytes on disk{_first_line(error)}); not a complete {noun}?",
            str(path),
        ) from error
    except DAMAGED as error:
        raise InputError(f"not a complete {noun}{_reason(error)}", str(path)) from error


def _first_line(error: BaseException) -> str:
    """Return the first line of a message behind a semicolon; empty without one."""
    lines = str(error).strip().splitlines()
    return f"; {lines[0][:160]}" if lines else ""


def _reason(error: BaseException) -> str:
    """Return the first line of a message in parentheses; the name of the error where it
    has none.
    """
    return f" ({_first_line(error).removeprefix('; ') or type(error).__name__})"
