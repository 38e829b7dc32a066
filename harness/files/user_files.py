"""Users' files as bytes: whether they are there, what they begin with, their content
decompressed, and their fingerprint.

The content of a file, not its name, decides whether it is compressed or Parquet.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.streams import BoundedGzip, BoundedZstandard, PartPath, spool_pipe
from harness.files.user_path import nearest_beside, user_path

GZIP_MAGIC = b"\x1f\x8b"
ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
PACKED = (".gz", ".zst")
"""Endings of compressed files."""
DEEPEST_FOLDERS = 4
"""Levels of folders in which files below a folder are sought, such as split, league,
season and game: a whole disk that is named by mistake is not searched.
"""


def existing(path: str | Path, what: str = "file", *, parameter: str = "path") -> Path:
    """Return ``path`` as a :class:`~pathlib.Path` to an existing file, ``~`` expanded;
    a pipe is read to its end into a temporary file.

    Parameters
    ----------
    path : str or Path
        Path to check.
    what : str, default "file"
        Description of the file in messages.
    parameter : str, default "path"
        Name of the component's parameter that holds the path, for the error.

    Raises
    ------
    InputError
        When the path is empty, is a folder, or does not exist; the message names the
        nearest file of its folder.
    """
    if not isinstance(path, (str, Path)) or not str(path):
        raise InputError(
            f"the path of the {what} is {path!r}; expected text",
            parameter=parameter,
            value=path,
        )

    text = str(path)
    file = user_path(path)
    if not _is_possible(file):
        raise InputError(
            f"is no possible path of a {what}",
            text[:200],
            parameter=parameter,
            value=text,
        )
    if file.is_dir():
        raise InputError(
            f"is a folder; expected a {what}", text, parameter=parameter, value=text
        )

    if file.is_fifo():
        return spool_pipe(file)
    if not file.is_file():
        nearest = nearest_beside(file)
        hint = f"; did you mean '{nearest}'?" if nearest else ""
        raise InputError(f"no such {what}{hint}", text, parameter=parameter, value=text)
    return file


def _is_possible(path: Path) -> bool:
    """Return False for a path that the system does not accept: too long, or with a null
    byte.
    """
    try:
        path.lstat()
    except FileNotFoundError:
        return True
    except (ValueError, OSError) as error:
        return isinstance(error, OSError) and error.errno != errno.ENAMETOOLONG
    return True


def open_plain(path: Path) -> IO[bytes]:
    """Open a file as bytes, decompressed when it is compressed with gzip or
    Zstandard.
    """
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == GZIP_MAGIC:
        return io.BufferedReader(BoundedGzip(path))  # type: ignore[arg-type]
    if magic == ZSTANDARD_MAGIC:
        return io.BufferedReader(BoundedZstandard(path))
    return path.open("rb")


def is_parquet(path: Path) -> bool:
    """Return True when the file begins with the bytes of a Parquet file."""
    with path.open("rb") as file:
        return file.read(4) == PARQUET_MAGIC


def first_byte(path: Path) -> bytes:
    """Return the first byte that is not blank, or ``b""``: ``[`` begins a JSON list,
    ``{`` an object or JSON Lines.
    """
    with open_binary(path) as file:
        head = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    return head[:1]


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as decompressed bytes in a ``with`` block; raise :class:`InputError`
    when its gzip stream is broken.
    """
    with open_plain(path) as file:
        try:
            yield file
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"the gzip file is broken or cut off: {error}", str(path)
            ) from error


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files of a name in the folders below one, down to
    :data:`DEEPEST_FOLDERS`; those of the folder itself are left out.
    """
    for depth in range(1, DEEPEST_FOLDERS + 1):
        yield from folder.glob("*/" * depth + pattern)


def fingerprint(name: str, paths: Sequence[Path], params: Parameters) -> str:
    """Return ``name:`` and a hash of the parameters and of the files' bytes, in order.

    A folder stands for the files in it and the JSON files below (:func:`files_below`),
    with their names; a part of a file (``FILE#PART``) for the file and the name of the
    part.
    """
    digest = hashlib.sha256(json.dumps(params, sort_keys=True, default=str).encode())
    for path in paths:
        if isinstance(path, PartPath):
            digest.update(path.part.encode())
        files = [path]
        if path.is_dir():
            files = [*sorted(path.iterdir()), *sorted(files_below(path, "*.json"))]
        for file_path in files:
            if not file_path.is_file():
                continue
            if path.is_dir():
                digest.update(file_path.relative_to(path).as_posix().encode())
            with file_path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{name}:{digest.hexdigest()[:32]}"


def plain_name(path: Path) -> str:
    """Return the name of a file in small letters, without the ending of a compressed
    file.

    >>> plain_name(Path("folder/A.tsv.GZ"))
    'a.tsv'
    """
    name = path.name.lower()
    for ending in PACKED:
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name
