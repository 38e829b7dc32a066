"""Document frequencies: in how many documents (an example's references together are one) an n-gram stands.

Where they come from is a parameter of every metric that uses them, and part of its signature:

``references``  the task's references, one document per example (``df:task``);
``given``       the references that the metric is fitted on, where these are fewer (a stratum) (``df:given``);
a path          a table on disk, made by :func:`build_df_table` (``df:table:<sha8>``);
lists of texts  references given in Python, one list per document (``df:given:<sha8>``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError, InputError, did_you_mean
from harness.plugins.ngram import df_tables
from harness.plugins.ngram.index import NgramIndex, rows_of
from harness.plugins.tokenisers.tokens import tokenize

if TYPE_CHECKING:
    from harness.contracts import Features

_NAMES = ("references", "task", "given")
Documents = Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Document frequencies of an index's n-grams; those interned later stand in no document."""

    counts: np.ndarray
    """(n-grams,) int64."""
    documents: int
    """N, whose logarithm is the largest idf."""


class Source:
    """Where document frequencies come from; raises :class:`InputError` at once for a table that is not there."""

    def __init__(self, df: str | os.PathLike[str] | Documents) -> None:
        self.path: Path | None = None
        self.given: Documents | None = None
        if isinstance(df, str) and df in _NAMES:
            self.name = "given" if df == "given" else "task"
        elif isinstance(df, (str, os.PathLike)):
            self.path = Path(df)
            self.name = f"table:{df_tables.content_hash(self.path, _hint(df))}"
        else:
            self.given = _checked_documents(df)
            self.name = f"given:{_hash_documents(self.given)}"

    def frequencies(
        self, index: NgramIndex, tokenizer: str, features: Features | None = None, fitted: Documents = ()
    ) -> Frequencies:
        """The frequencies for the n-grams of ``index``; raises :class:`HarnessError` where there are no documents."""
        if self.path is not None:
            table = df_tables.read(self.path, tokenizer)
            ids = index.gram_ids(table.grams)
            counts = np.zeros(index.n_grams, dtype=np.int64)
            counts[ids] = table.counts
            return Frequencies(counts, table.documents)
        documents = self.given
        if documents is None:
            task = features.references if features is not None and self.name == "task" else ()
            documents = task if len(task) else fitted
        if not len(documents):
            raise HarnessError(
                "document frequencies need references: the task has none here (give df a table or lists of texts)"
            )
        return from_documents(index, documents, tokenizer, features)


def from_documents(
    index: NgramIndex, documents: Documents, tokenizer: str, features: Features | None = None
) -> Frequencies:
    """Count the documents that hold each n-gram; texts are tokenised through ``features`` where they are shared."""
    sizes = [len(texts) for texts in documents]
    texts = [text for document in documents for text in document]
    if features is None:
        rows = index.add(tokenize(texts, tokenizer))
    else:
        rows = rows_of(features, features.intern(texts), tokenizer, index)
    counts = index.document_frequencies(np.split(rows, np.cumsum(sizes)[:-1]))
    return Frequencies(counts, len(documents))


def build_df_table(corpus: Documents, path: str | os.PathLike[str], *, tokenizer: str = "ptb", minimum: int = 1) -> int:
    """Write the document frequencies of a corpus to ``path`` (.json, .json.gz, .parquet or .npz); returns how many n-grams.

    ``corpus`` holds one list of texts per document; n-grams in fewer than ``minimum`` documents are left out (they then
    count as unseen: frequency 0 and 1 have the same idf). Written atomically. Raises :class:`InputError` for a corpus
    that is empty or not lists of texts, or for another file ending.

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> build_df_table([["a dog"], ["a cat", "the cat"]], pathlib.Path(folder.name, "df.json"), tokenizer="none")
    7
    """
    documents = _checked_documents(corpus)
    index = NgramIndex()
    found = from_documents(index, documents, tokenizer)
    keep = np.flatnonzero(found.counts >= max(1, minimum))
    names = index.names()
    table = df_tables.Table([names[i] for i in keep], found.counts[keep], found.documents, tokenizer)
    df_tables.write(Path(path), table)
    return len(keep)


def _hint(df: str | os.PathLike[str]) -> str:
    return f"df is 'references', 'given', lists of texts, or a table's path{did_you_mean(str(df), _NAMES)}"


def _checked_documents(corpus: Any) -> Documents:
    if not isinstance(corpus, Sequence) or isinstance(corpus, (str, bytes)):
        raise InputError(f"expected one list of texts per document; found {type(corpus).__name__}", "df")
    if not len(corpus):
        raise InputError("there are no documents", "df")
    for number, texts in enumerate(corpus):
        if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
            raise InputError(f"expected a list of texts; found {texts!r:.60}", f"df: document {number}")
        for text in texts:
            if not isinstance(text, str):
                raise InputError(f"expected a text; found {text!r:.60}", f"df: document {number}")
    return corpus


def _hash_documents(documents: Documents) -> str:
    digest = hashlib.sha256()
    for texts in documents:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        digest.update(b"\xff" * 8)
    return digest.hexdigest()[:8]
