"""Document-frequency tables on disk: JSON (plain or gzipped), Parquet or npz; the
file's ending selects the format.

Every format contains ``format`` ("harness-df"), ``version`` (1), ``documents`` (N),
``tokenizer``, and for each n-gram of one to four words (joined by one blank) the
number of documents that contain it.

- JSON: an object with these keys and ``df``, a mapping from n-gram to frequency.
- Parquet: columns ``gram`` and ``df``; the header, as JSON, in the schema's metadata.
- npz: ``grams`` (UTF-8 bytes, one n-gram per line), ``df``, and ``header`` (JSON
  bytes).

Pickled tables of other tools are not read, because unpickling runs code.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from caption_kernels.scorers.df_table import (
    ENDINGS,
    FORMAT,
    Table,
    checked_table,
    decode,
    whole_numbers,
)
from harness.errors import InputError, require
from harness.files.memory import require_memory
from harness.files.outputs import write_output
from harness.files.streams import DAMAGED

if TYPE_CHECKING:
    pass


_ENDINGS = (*ENDINGS, ".parquet")
_NEEDED_BY = "a table of document frequencies"


def content_hash(path: Path, hint: str = "") -> str:
    """Return the first eight hex digits of the file's SHA-256.

    Raises :class:`InputError`, ending with ``hint``, when the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot read the document-frequency table ({reason}); {hint}".rstrip("; "),
            str(path),
        ) from error
    return hashlib.sha256(data).hexdigest()[:8]


def write(path: Path, table: Table, *, overwrite: bool = False) -> None:
    """Write a table atomically, in the format of the file's ending.

    Raises :class:`InputError` for an unknown ending, for an n-gram that UTF-8 cannot
    encode, and for a file that people wrote or changed (:mod:`harness.files.outputs`),
    unless ``overwrite``.
    """
    try:
        content = _encode(_ending(path), table)
    except UnicodeEncodeError as error:
        raise InputError(
            f"n-gram that UTF-8 cannot encode: {error.object!r:.60}", str(path)
        ) from error
    write_output(path, content, overwrite=overwrite)


def _encode(ending: str, table: Table) -> bytes:
    """Return the content of a file with this ending."""
    buffer = io.BytesIO()
    if ending == ".parquet":
        arrow = require("pyarrow", needed_by=_NEEDED_BY)
        columns = arrow.table({"gram": table.grams, "df": table.counts})
        require_memory(2 * columns.nbytes)

        metadata = {FORMAT: json.dumps(table.header())}
        parquet = require("pyarrow.parquet", needed_by=_NEEDED_BY)
        parquet.write_table(columns.replace_schema_metadata(metadata), buffer)
    elif ending == ".npz":
        grams = "\n".join(table.grams).encode()
        header = json.dumps(table.header()).encode()
        np.savez_compressed(
            buffer,
            grams=np.frombuffer(grams, np.uint8),
            header=np.frombuffer(header, np.uint8),
            df=table.counts,
        )
    else:
        frequencies = dict(zip(table.grams, table.counts.tolist()))
        content = {**table.header(), "df": frequencies}
        data = json.dumps(content, ensure_ascii=False).encode()
        if ending == ".json.gz":
            # without the time, so that equal tables have equal hashes
            data = gzip.compress(data, mtime=0)
        buffer.write(data)
    return buffer.getvalue()


def read(path: Path, tokenizer: str) -> Table:
    """Return the table in a file.

    Raises :class:`InputError` when the file is not a table of this version, its content
    is inconsistent, or its tokeniser is not ``tokenizer``.
    """
    ending = _ending(path)
    location = str(path)
    try:
        if ending == ".parquet":
            header, grams, counts = _read_parquet(path)
        else:
            header, grams, counts = decode(path.read_bytes(), ending)
    except (*DAMAGED, MemoryError, RecursionError) as error:
        raise InputError(
            f"not a document-frequency table ({type(error).__name__}: {error})",
            location,
        ) from error

    try:
        table = checked_table(header, grams, counts)
    except ValueError as error:
        raise InputError(str(error), location) from error

    if table.tokenizer != tokenizer:
        raise InputError(
            f"the table's tokenizer is '{table.tokenizer}', "
            f"but the metric's is '{tokenizer}': their n-grams differ",
            location,
        )
    return table


def _ending(path: Path) -> str:
    """Return the ending of a table's file name;
    raise :class:`InputError` for an unknown one.
    """
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if path.name.endswith(ending):
            return ending
    raise InputError(
        f"unknown ending of a document-frequency table; expected {', '.join(_ENDINGS)}",
        str(path),
    )


def _read_parquet(path: Path) -> tuple[dict[str, Any], list[str], np.ndarray]:
    columns = require("pyarrow.parquet", needed_by=_NEEDED_BY).read_table(path)
    metadata: dict[bytes, bytes] = columns.schema.metadata or {}
    header = json.loads(metadata[FORMAT.encode()])
    return header, columns["gram"].to_pylist(), whole_numbers(columns["df"].to_numpy())
