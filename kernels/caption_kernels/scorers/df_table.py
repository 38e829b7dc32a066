"""Tables of document frequencies: n-grams, the number of documents that contain each,
and the number of documents.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FORMAT = "harness-df"
VERSION = 1
ENDINGS = (".json", ".json.gz", ".npz")
"""Endings of the files that :func:`decode` reads."""


@dataclass(frozen=True, eq=False)
class Table:
    """Content of a table."""

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
        return {
            "format": FORMAT,
            "version": VERSION,
            "documents": self.documents,
            "tokenizer": self.tokenizer,
        }


def read_table(path: str | Path) -> Table:
    """Return the table in a file that ends in ``.json``, ``.json.gz`` or ``.npz``.

    Raises
    ------
    OSError
        When the file cannot be read.
    ValueError
        When it is not a table, or its content is inconsistent.
    """
    path = Path(path)
    ending = next(
        (
            ending
            for ending in sorted(ENDINGS, key=len, reverse=True)
            if path.name.endswith(ending)
        ),
        None,
    )

    if ending is None:
        raise ValueError(
            f"{path}: unknown ending of a document-frequency table; "
            f"expected {', '.join(ENDINGS)}"
        )

    data = path.read_bytes()
    try:
        header, grams, counts = decode(data, ending)
        return checked_table(header, grams, counts)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        OSError,
        RecursionError,
    ) as error:
        raise ValueError(
            f"{path}: not a document-frequency table ({type(error).__name__}: {error})"
        ) from error


def decode(data: bytes, ending: str) -> tuple[dict[str, Any], list[str], np.ndarray]:
    """Return header, n-grams and frequencies (G,) of the content of a file with this
    ending.
    """
    if ending == ".npz":
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            text = arrays["grams"].tobytes().decode()
            header = json.loads(arrays["header"].tobytes())
            return header, text.split("\n") if text else [], whole_numbers(arrays["df"])
    content = json.loads(gzip.decompress(data) if ending == ".json.gz" else data)
    table = content.pop("df")
    return content, list(table), whole_numbers(list(table.values()))


def checked_table(
    header: Mapping[str, Any], grams: list[str], counts: np.ndarray
) -> Table:
    """Return a table; raise ValueError with the first inconsistency."""
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise ValueError(
            f"not a {FORMAT} table of version {VERSION}: "
            f"the header is {dict(header)!r:.80}"
        )

    documents = header.get("documents")
    if (
        isinstance(documents, bool)
        or not isinstance(documents, int)
        or documents < 1
        or counts.shape != (len(grams),)
    ):
        raise ValueError(
            f"inconsistent table: {documents!r} documents, {len(grams)} n-grams, "
            f"{counts.size} frequencies"
        )

    if counts.size and (counts.min() < 0 or counts.max() > documents):
        worst = int(np.argmax((counts < 0) | (counts > documents)))
        raise ValueError(
            f"{grams[worst]!r} occurs in {counts[worst]} of {documents} documents"
        )

    for number, gram in enumerate(grams):
        if not isinstance(gram, str) or not 1 <= len(gram.split()) <= 4:
            raise ValueError(
                f"n-gram {number} is {gram!r:.60}; expected one to four words"
            )

    return Table(grams, counts, documents, str(header.get("tokenizer")))


def whole_numbers(values: npt.ArrayLike) -> np.ndarray:
    """Return frequencies (G,) as int64;
    raise ValueError for other than whole numbers.
    """
    counts = np.asarray(values)
    if counts.size and counts.dtype.kind not in "iu":
        raise ValueError(f"frequencies of type {counts.dtype}; expected whole numbers")
    return counts.astype(np.int64)
