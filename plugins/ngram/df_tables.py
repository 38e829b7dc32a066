"""Document-frequency tables on disk: JSON (plain or gzipped), Parquet or npz; the file's ending selects the format.

Every format contains ``format`` ("harness-df"), ``version`` (1), ``documents`` (N), ``tokenizer``, and for each n-gram of one to
four words (joined by one blank) the number of documents that contain it.

- JSON: an object with these keys and ``df``, a mapping from n-gram to frequency.
- Parquet: columns ``gram`` and ``df``; the header, as JSON, in the schema's metadata.
- npz: ``grams`` (UTF-8 bytes, one n-gram per line), ``df``, and ``header`` (JSON bytes).

Pickled tables of other tools are not read, because unpickling runs code.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import InputError
from harness.files.memory import require_memory
from harness.files.readable import DAMAGED

FORMAT = "harness-df"
VERSION = 1
_ENDINGS = (".json", ".json.gz", ".parquet", ".npz")


@dataclass(frozen=True, eq=False)
class Table:
    """Content of a document-frequency table."""

    grams: list[str]
    """n-grams, words joined by one blank; length G."""
    counts: np.ndarray
    """Document frequencies, shape (G,), int64."""
    documents: int
    """Number of documents N."""
    tokenizer: str
    """Name of the tokeniser that produced the words."""

    def header(self) -> dict[str, Any]:
        """Return the table without its n-grams, as a JSON object."""
        return {"format": FORMAT, "version": VERSION, "documents": self.documents, "tokenizer": self.tokenizer}


def content_hash(path: Path, hint: str = "") -> str:
    """Return the first eight hex digits of the file's SHA-256.

    Raises :class:`InputError`, ending with ``hint``, when the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot read the document-frequency table ({reason}); {hint}".rstrip("; "), str(path)
        ) from error
    return hashlib.sha256(data).hexdigest()[:8]


def write(path: Path, table: Table) -> None:
    """Write a table atomically, in the format of the file's ending.

    Raises :class:`InputError` for an unknown ending and for an n-gram that UTF-8 cannot encode.
    """
    try:
        content = _encode(_ending(path), table)
    except UnicodeEncodeError as error:
        raise InputError(f"n-gram that UTF-8 cannot encode: {error.object!r:.60}", str(path)) from error
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _encode(ending: str, table: Table) -> bytes:
    """Return the content of a file with this ending."""
    buffer = io.BytesIO()
    if ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = pa.table({"gram": table.grams, "df": table.counts})
        require_memory(2 * columns.nbytes)
        pq.write_table(columns.replace_schema_metadata({FORMAT: json.dumps(table.header())}), buffer)
    elif ending == ".npz":
        grams, header = "\n".join(table.grams).encode(), json.dumps(table.header()).encode()
        np.savez_compressed(
            buffer, grams=np.frombuffer(grams, np.uint8), header=np.frombuffer(header, np.uint8), df=table.counts
        )
    else:
        text = json.dumps({**table.header(), "df": dict(zip(table.grams, table.counts.tolist()))}, ensure_ascii=False)
        buffer.write(gzip.compress(text.encode(), mtime=0) if ending == ".json.gz" else text.encode())
    return buffer.getvalue()


def read(path: Path, tokenizer: str) -> Table:
    """Return the table in a file.

    Raises :class:`InputError` when the file is not a table of this version, its content is inconsistent, or its tokeniser is
    not ``tokenizer``.
    """
    ending, where = _ending(path), str(path)
    try:
        header, grams, counts = _READERS[ending](path)
    except (*DAMAGED, MemoryError, RecursionError) as error:
        raise InputError(f"not a document-frequency table ({type(error).__name__}: {error})", where) from error
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise InputError(f"not a {FORMAT} table of version {VERSION}: the header is {header!r:.80}", where)
    documents = header.get("documents")
    if not isinstance(documents, int) or documents < 1 or counts.ndim != 1 or len(counts) != len(grams):
        raise InputError(
            f"inconsistent table: {documents!r} documents, {len(grams)} n-grams, {counts.size} frequencies", where
        )
    if counts.size and (counts.min() < 0 or counts.max() > documents):
        worst = int(np.argmax((counts < 0) | (counts > documents)))
        raise InputError(f"{grams[worst]!r} occurs in {counts[worst]} of {documents} documents", where)
    for number, gram in enumerate(grams):
        if not isinstance(gram, str) or not 1 <= len(gram.split()) <= 4:
            raise InputError(f"n-gram {number} is {gram!r:.60}; expected one to four words", where)
    if header.get("tokenizer") != tokenizer:
        raise InputError(
            f"the table's tokenizer is '{header.get('tokenizer')}', but the metric's is '{tokenizer}': their n-grams differ",
            where,
        )
    return Table(grams, counts, documents, tokenizer)


def _ending(path: Path) -> str:
    """Return the ending of a table's file name; raise :class:`InputError` for an unknown one."""
    for ending in sorted(_ENDINGS, key=len, reverse=True):
        if path.name.endswith(ending):
            return ending
    raise InputError(f"unknown ending of a document-frequency table; expected {', '.join(_ENDINGS)}", str(path))


def _integers(values: npt.ArrayLike) -> np.ndarray:
    """Return frequencies as int64; raise ValueError for other than whole numbers."""
    counts = np.asarray(values)
    if counts.size and counts.dtype.kind not in "iu":
        raise ValueError(f"frequencies of type {counts.dtype}; expected whole numbers")
    return counts.astype(np.int64)


def _read_json(path: Path) -> tuple[dict[str, Any], list[str], np.ndarray]:
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if path.name.endswith(".gz") else data)
    table = content.pop("df")
    return content, list(table), _integers(list(table.values()))


def _read_parquet(path: Path) -> tuple[dict[str, Any], list[str], np.ndarray]:
    import pyarrow.parquet as pq

    columns = pq.read_table(path)
    header = json.loads((columns.schema.metadata or {})[FORMAT.encode()])
    return header, columns["gram"].to_pylist(), _integers(columns["df"].to_numpy())


def _read_npz(path: Path) -> tuple[dict[str, Any], list[str], np.ndarray]:
    with np.load(path, allow_pickle=False) as arrays:
        text = arrays["grams"].tobytes().decode()
        header = json.loads(arrays["header"].tobytes())
        return header, text.split("\n") if text else [], _integers(arrays["df"])


_READERS = {".json": _read_json, ".json.gz": _read_json, ".parquet": _read_parquet, ".npz": _read_npz}
