"""Document frequencies: the number of documents that contain an n-gram, where a
document is all references of an example.

The source is the parameter ``df`` of every metric that uses document frequencies, and
part of its signature:

``references``
    The references of the task, one document per example (``df:task``).
``given``
    As ``references``, under a name of its own for a metric that is fitted on other
    texts, such as a stratum (``df:given``).
a path
    A table on disk, written by :func:`build_df_table` (``df:table:<sha8>``).
lists of texts
    Documents passed from Python, one list of texts each (``df:given:<sha8>``).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from caption_kernels.scorers.df_table import Table
from harness.errors import HarnessError, InputError, did_you_mean
from harness.files.user_files import existing
from harness_metrics.ngram.df_table import content_hash, read, write
from harness_metrics.tokenisers.text_rows import TextRows
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer

if TYPE_CHECKING:
    from harness.contracts import Features

BLOCK_DOCUMENTS = 8192
"""Number of documents that are counted together."""
_NAMES = ("references", "task", "given")
Documents = Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Document frequencies of the n-grams of an index;
    n-grams that are added to it later have frequency 0.
    """

    counts: np.ndarray
    """Number of documents that contain each n-gram, shape (n_grams,), int32: the tables
    of large corpora are the memory of a run.
    """
    documents: int
    """Number of documents N; log N is the largest idf."""


class Source:
    """Source of document frequencies.

    Parameters
    ----------
    df : str, path or list of lists of str
        ``references`` or ``given`` (see the module), a table's path, or documents.

    Raises
    ------
    InputError
        For a table that cannot be read, and for documents that are empty or not lists
        of texts.
    """

    def __init__(self, df: str | os.PathLike[str] | Documents) -> None:
        self.path: Path | None = None
        self.documents: Documents | None = None
        if isinstance(df, str) and df in _NAMES:
            self.name = "given" if df == "given" else "task"
        elif isinstance(df, (str, os.PathLike)):
            self.path = Path(df)
            self.name = f"table:{content_hash(self.path, _hint(df))}"
        else:
            self.documents = _checked_documents(df)
            self.name = f"given:{_hash_documents(self.documents)}"

    @property
    def fits_references(self) -> bool:
        """True when the frequencies are those of the references of the task or of a
        fit.
        """
        return self.path is None and self.documents is None

    def frequencies(
        self, texts: TextRows, features: Features | None = None, fitted: Documents = ()
    ) -> Frequencies:
        """Return the frequencies of the n-grams of an index.

        Parameters
        ----------
        texts : TextRows
            Index to which the n-grams of the documents are added.
        features : Features, optional
            Feature cache with the task's references; texts are indexed through it.
        fitted : sequence of sequence of str
            References that the metric is fitted on.

        Raises
        ------
        HarnessError
            Without documents, or for a table that is damaged or has another tokeniser.
        """
        if self.path is not None:
            table = read(self.path, texts.tokenizer)
            ids = texts.index.intern_grams(table.grams)
            # N-grams of the run that the table lacks keep 0 and count as unseen, as in
            # the toolkit.
            counts = np.zeros(texts.index.n_grams, dtype=np.int32)
            counts[ids] = table.counts
            return Frequencies(counts, table.documents)

        documents = self.documents
        if documents is None:
            documents = fitted
            # the whole task, and not the shard that is fitted
            if features is not None and self.name == "task" and features.references:
                documents = features.references
        if not len(documents):
            raise HarnessError(
                "document frequencies need references, and the task has none: "
                "set df to a table or to lists of texts"
            )
        return from_documents(texts, documents, features)


def from_documents(
    texts: TextRows, documents: Documents, features: Features | None = None
) -> Frequencies:
    """Return the document frequencies of lists of texts, one list per document.

    Parameters
    ----------
    texts : TextRows
        Index to which the n-grams are added.
    documents : sequence of sequence of str
        Texts of each document.
    features : Features, optional
        Feature cache through which texts are indexed; without it, and for more than
        :data:`BLOCK_DOCUMENTS` documents, they are indexed here, block by block, and no
        text is kept.
    """
    if len(documents) > BLOCK_DOCUMENTS:
        counts = Frequencies(np.zeros(0, dtype=np.int32), 0)
        iterator = iter(documents)
        while block := list(islice(iterator, BLOCK_DOCUMENTS)):
            counts = merge_frequencies(counts, from_documents(texts, block))
        return counts

    starts = np.cumsum([0, *(len(document) for document in documents)])
    flat = [text for document in documents for text in document]

    # Counting needs the n-grams of the documents, not their texts: without a cache that
    # shares them, the texts are rolled back and only the n-grams stay.
    mark = texts.index.mark()
    if features is None:
        rows = texts.index.gram_rows(texts.add(flat))
    else:
        rows = texts.gram_rows(features, features.intern(flat))
    counts = texts.index.document_frequencies(rows, starts).astype(np.int32)
    if features is None:
        texts.index.rollback(mark, keep_grams=True)
    return Frequencies(counts, len(documents))


def merge_frequencies(first: Frequencies, second: Frequencies) -> Frequencies:
    """Return the frequencies of two groups of documents together;
    both count the n-grams of one index.
    """
    # The index grows while blocks are counted: the later array is the longer one, and
    # its further n-grams are new.
    shorter, longer = sorted((first.counts, second.counts), key=len)
    counts = longer.copy()
    counts[: len(shorter)] += shorter
    return Frequencies(counts, first.documents + second.documents)


def build_df_table(
    corpus: Documents,
    path: str | os.PathLike[str],
    *,
    tokenizer: TokenizerName = "ptb",
    minimum: int = 1,
    overwrite: bool = False,
) -> int:
    """Write the document frequencies of a corpus to a table and return its number of
    n-grams.

    Parameters
    ----------
    corpus : sequence of sequence of str
        Texts of each document.
    path : path
        File to write, atomically; ends in ``.json``, ``.json.gz``, ``.parquet`` or
        ``.npz``.
    tokenizer : str
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    minimum : int
        n-grams in fewer documents are omitted and then count as unseen. Frequencies 0
        and 1 have the same idf, so 2 changes no score.
    overwrite : bool
        Replace a file that people wrote or changed.

    Returns
    -------
    int
        Number of n-grams in the table.

    Raises
    ------
    InputError
        For a corpus that is empty or not lists of texts, for an unknown file ending,
        and for a file that people wrote or changed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> build_df_table(
    ...     [["a dog"], ["a cat", "the cat"]],
    ...     pathlib.Path(folder.name, "df.json"),
    ...     tokenizer="none",
    ... )
    7
    """
    documents = _checked_documents(corpus)
    texts = TextRows(check_tokenizer(tokenizer))
    frequencies = from_documents(texts, documents)
    table = Table(
        texts.index.gram_texts(), frequencies.counts, frequencies.documents, tokenizer
    )
    return _write_frequent(Path(path), table, minimum, overwrite)


def join_df_tables(
    tables: Sequence[Path],
    path: Path,
    *,
    tokenizer: TokenizerName = "ptb",
    minimum: int = 1,
    overwrite: bool = False,
) -> tuple[int, int]:
    """Write the table of several corpora together and return its numbers of n-grams and
    of documents.

    Tables of parts are built with ``minimum`` 1, since an n-gram that is rare in each
    part may be frequent in all.

    Raises
    ------
    InputError
        For a table that cannot be read or has another tokeniser, for an unknown file
        ending, and for a file that people wrote or changed, unless ``overwrite``.
    """
    counts: dict[str, int] = {}
    documents = 0
    for file in tables:
        table = read(existing(file, "document-frequency table"), tokenizer)
        documents += table.documents
        for gram, count in zip(table.grams, table.counts.tolist()):
            counts[gram] = counts.get(gram, 0) + count

    joined = Table(
        list(counts), np.fromiter(counts.values(), dtype=np.int64), documents, tokenizer
    )
    return _write_frequent(path, joined, minimum, overwrite), documents


def _write_frequent(path: Path, table: Table, minimum: int, overwrite: bool) -> int:
    """Write the n-grams of at least ``minimum`` documents and return their number."""
    keep = np.flatnonzero(table.counts >= max(1, minimum))
    grams = [table.grams[i] for i in keep]
    frequent = Table(grams, table.counts[keep], table.documents, table.tokenizer)
    write(path, frequent, overwrite=overwrite)
    return len(keep)


def _hint(df: str | os.PathLike[str]) -> str:
    """Return the accepted values of ``df``, and the name nearest to this one."""
    return (
        "expected 'references', 'given', lists of texts, "
        f"or a table's path{did_you_mean(str(df), _NAMES)}"
    )


def _checked_documents(corpus: object) -> Documents:
    """Return a corpus; raise :class:`InputError` when it is empty or not lists of
    texts.
    """
    if not isinstance(corpus, Sequence) or isinstance(corpus, (str, bytes)):
        raise InputError(
            f"{type(corpus).__name__}; expected one list of texts per document", "df"
        )
    if not corpus:
        raise InputError("no documents; expected one list of texts per document", "df")

    for number, texts in enumerate(cast("Sequence[object]", corpus)):
        if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
            raise InputError(
                f"{texts!r:.60}; expected a list of texts", f"df: document {number}"
            )
        for text in cast("Sequence[object]", texts):
            if not isinstance(text, str):
                raise InputError(
                    f"{text!r:.60}; expected a text", f"df: document {number}"
                )
    return cast("Documents", corpus)


def _hash_documents(documents: Documents) -> str:
    """Return the first eight hex digits of a SHA-256 over texts and document
    boundaries.
    """
    digest = hashlib.sha256()
    for texts in documents:
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            # with its length: ("ab", "c") and ("a", "bc") are different documents
            digest.update(len(data).to_bytes(8, "little") + data)
        digest.update(b"\xff" * 8)
    return digest.hexdigest()[:8]
