"""Errors of files that hold captions in a form that is no text and is not read: what
they are, and what to do.
"""

from __future__ import annotations

import shlex
import tarfile
from contextlib import suppress
from itertools import islice
from pathlib import Path

from harness.errors import InputError
from harness.files.captions import quote_list
from harness.files.encodings import encoding_hint
from harness.files.user_files import open_binary

_TAR_MAGIC = b"ustar"
_TAR_MAGIC_AT = 257
_ARROW = (
    "an Arrow file; write its table as Parquet: pyarrow.parquet.write_table, or "
    "to_parquet of its data set"
)
_KINDS = (
    (b"ARROW1", _ARROW),
    (b"\xff\xff\xff\xff", _ARROW),
    (
        b"\x93NUMPY",
        "an array of NumPy; write it as JSON: json.dump(array.tolist(), file)",
    ),
    (b"SQLite format 3\0", "a database of SQLite; write a table of it as CSV"),
    *(
        (
            b"\x80" + bytes([protocol]),
            "a pickle of Python, which may run any program when it is read; write its "
            "value as JSON: json.dump(value, file)",
        )
        for protocol in (2, 3, 4, 5)
    ),
)
"""First bytes of a file -> what it is, and what to do."""
_LISTED = 5
"""Number of files of an archive that a message lists."""


def binary_error(path: Path, head: bytes) -> InputError:
    """Return the error for a file that holds bytes that are zero; ``head`` are its
    first ones, unpacked.
    """
    if head[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC):
        return _tar_error(path)
    for magic, text in _KINDS:
        if head.startswith(magic):
            return InputError(f"is {text}", str(path))
    return InputError(
        f"holds bytes that are zero; expected text in UTF-8{encoding_hint(path)}",
        str(path),
    )


def _tar_error(path: Path) -> InputError:
    """Return the error for a tar archive, such as a shard of WebDataset."""
    names: list[str] = []
    # A shard may be large: the first headers alone are read.
    with (
        suppress(tarfile.TarError, OSError),
        open_binary(path) as file,
        tarfile.open(fileobj=file, mode="r|") as archive,
    ):
        files = (member.name for member in archive if member.isfile())
        names = list(islice(files, _LISTED + 1))
    listed = f" ({quote_list(names, _LISTED)})" if names else ""
    return InputError(
        f"is a tar archive{listed}; expected a file of captions: unpack it (mkdir NEW "
        f"&& tar -xf {shlex.quote(path.name)} -C NEW) and name one of its files, or a "
        "folder with a .txt file per item and nothing else but their images, videos or "
        "sounds",
        str(path),
    )
