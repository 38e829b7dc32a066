"""Index of the n-grams of a run: each distinct text is counted once.

A text is a *row*: its n-grams of orders 1 to 4 with their counts, concatenated in flat arrays (``ids``, ``counts``), with
``bounds[row, k - 1] : bounds[row, k]`` for order k. Equal token sequences share a row. Within an order the n-grams are
sorted by first occurrence in the text, as in the COCO caption toolkit's dictionaries, so that sums over them depend on the
text alone and not on the texts added before it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import require
from harness.plugins.compiled.cache_keys import imported
from harness.plugins.compiled.growing import ensure_rows
from harness.plugins.tokenisers.tokens import tokens_of
from harness.plugins.tokenisers.words import WordIndex, WordMap, word_index_of, word_rows_of

if TYPE_CHECKING:
    from harness.contracts import Features

ORDERS = 4
"""Highest n-gram order."""
_CHUNK_WORDS = 1 << 16


def kernels() -> ModuleType:
    """Return the module of compiled loops; raise :class:`~harness.errors.MissingExtra` without numba."""
    require("numba", needed_by="n-gram metrics (bleu, rouge, cider)")
    with imported():
        from harness.plugins.ngram import index_kernels

    return index_kernels


def count_ngrams(words: Sequence[str], orders: int = ORDERS) -> list[Counter[tuple[str, ...]]]:
    """Return the n-gram counts of a word list, one counter per order from 1 to ``orders``, by first occurrence.

    The readable reference of :class:`NgramIndex`.

    >>> count_ngrams(["a", "b", "a"], 2)
    [Counter({('a',): 2, ('b',): 1}), Counter({('a', 'b'): 1, ('b', 'a'): 1})]
    """
    return [Counter(tuple(words[i : i + k]) for i in range(len(words) - k + 1)) for k in range(1, orders + 1)]


class NgramIndex:
    """Interned n-grams of tokenised texts, which are split at white space."""

    def __init__(self) -> None:
        self.key = uuid.uuid4().hex
        """Identifies this index in caches; its rows have no meaning in another index."""
        self._words: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        """Row of each token sequence; words joined by one blank."""
        self._table_keys = np.full(1 << 12, -1, dtype=np.int64)
        self._table_values = np.zeros(1 << 12, dtype=np.int32)
        self._table_used = 0
        self._seen = np.full(1 << 12, -1, dtype=np.int64)
        self._ids = np.zeros(1 << 12, dtype=np.int32)
        self._counts = np.zeros(1 << 12, dtype=np.int32)
        self._bounds = np.zeros((1 << 8, ORDERS + 1), dtype=np.int64)
        self._lengths = np.zeros(1 << 8, dtype=np.int64)
        self.n_grams = 0
        self.n_rows = 0
        self.n_entries = 0
        self._split: WordMap | None = None

    # ------------------------------------------------------------------ arrays
    @property
    def ids(self) -> np.ndarray:
        """n-gram ids, shape (n_entries,)."""
        return self._ids[: self.n_entries]

    @property
    def counts(self) -> np.ndarray:
        """Count of each n-gram in its text, shape (n_entries,)."""
        return self._counts[: self.n_entries]

    @property
    def bounds(self) -> np.ndarray:
        """First entry of each order of each row, then the end of the row, shape (n_rows, 5)."""
        return self._bounds[: self.n_rows]

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of each row, shape (n_rows,)."""
        return self._lengths[: self.n_rows]

    # ------------------------------------------------------------------ adding
    def add(self, texts: Iterable[str]) -> np.ndarray:
        """Return the rows (T,) of tokenised texts; only new token sequences are counted."""
        row_of = self._rows
        rows: list[int] = []
        new: list[str] = []  # one flat list of words; a list per text would trigger the garbage collector
        ends: list[int] = []
        for text in texts:
            words = text.split()
            row = row_of.setdefault(" ".join(words), len(row_of))
            if row == self.n_rows + len(ends):
                new += words
                ends.append(len(new))
            rows.append(row)
        self._count(self._word_ids(new), np.asarray([0, *ends], dtype=np.int64))
        return np.asarray(rows, dtype=np.int64)

    def add_split(self, texts: Sequence[str], index: WordIndex, rows: np.ndarray) -> np.ndarray:
        """Return the rows (T,) of texts that a word index has split already; otherwise as :meth:`add`.

        Parameters
        ----------
        texts : sequence of str
            T tokenised texts.
        index : WordIndex
            Index of their words.
        rows : ndarray
            Rows of the texts in ``index``, shape (T,).
        """
        if self._split is None or self._split.index is not index:
            self._split = WordMap(index, self._one_word_ids)
        plain, words, bounds = self._split.numbers_of(rows)
        row_of, out = self._rows, np.empty(len(texts), dtype=np.int64)
        new = np.zeros(len(bounds) - 1, dtype=bool)
        fresh = self.n_rows
        for k, (place, text) in enumerate(compress(enumerate(texts), plain)):
            row = out[place] = row_of.setdefault(text, len(row_of))
            if row == fresh:
                new[k] = True
                fresh += 1
        if not new.all():
            lengths = np.diff(bounds)
            words, bounds = words[np.repeat(new, lengths)], np.concatenate([[0], np.cumsum(lengths[new])])
        self._count(words, bounds)
        if not plain.all():
            out[~plain] = self.add(compress(texts, ~plain))
        return out

    def _one_word_ids(self, words: list[str]) -> np.ndarray:
        """Return the ids (W,) of the words, new ones added; -1 for a string that white space splits or that is blank."""
        ids = np.full(len(words), -1, dtype=np.int64)
        places = [k for k, word in enumerate(words) if word.split() == [word]]
        ids[places] = self._word_ids([words[k] for k in places])
        return ids

    def _word_ids(self, words: list[str]) -> np.ndarray:
        """Return the ids (W,) of the words, int64, new ones added."""
        vocabulary = self._words
        for word in dict.fromkeys(words):
            if word not in vocabulary:
                vocabulary[word] = self.n_grams
                self.n_grams += 1
        return np.fromiter(map(vocabulary.__getitem__, words), dtype=np.int64, count=len(words))

    def _count(self, words: np.ndarray, starts: np.ndarray) -> None:
        """Count T new texts, ``words[starts[t] : starts[t + 1]]``, in chunks; ``starts`` has shape (T + 1,)."""
        n_texts = len(starts) - 1
        self._ids = ensure_rows(self._ids, self.n_entries + ORDERS * len(words))
        self._counts = ensure_rows(self._counts, self.n_entries + ORDERS * len(words))
        self._bounds = ensure_rows(self._bounds, self.n_rows + n_texts)
        self._lengths = ensure_rows(self._lengths, self.n_rows + n_texts)
        first = 0
        while first < n_texts:
            last = max(first + 1, int(np.searchsorted(starts, starts[first] + _CHUNK_WORDS, side="right")) - 1)
            self._count_chunk(words[starts[first] : starts[last]], starts[first : last + 1] - starts[first])
            first = last

    def _count_chunk(self, flat: np.ndarray, starts: np.ndarray) -> None:
        """Count the texts ``flat[starts[t] : starts[t + 1]]`` into the arrays, which have room for them."""
        n_texts = len(starts) - 1
        self._lengths[self.n_rows : self.n_rows + n_texts] = np.diff(starts)
        self._reserve((ORDERS - 1) * len(flat))
        before = self.n_grams
        self.n_grams, self.n_entries = kernels().count_texts(
            flat,
            starts,
            self._table_keys,
            self._table_values,
            before,
            self._seen,
            self.n_entries,
            self._ids,
            self._counts,
            self._bounds[self.n_rows : self.n_rows + n_texts],
        )
        self._table_used += self.n_grams - before
        self.n_rows += n_texts

    def _reserve(self, n_new: int) -> None:
        """Make room for ``n_new`` more n-grams in the table, which stays at most 60 % full, and in ``seen``."""
        self._seen = ensure_rows(self._seen, self.n_grams + n_new, fill=-1)
        size = len(self._table_keys)
        while (self._table_used + n_new) > 0.6 * size:
            size *= 2
        if size > len(self._table_keys):
            keys, values = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32)
            kernels().rehash(self._table_keys, self._table_values, keys, values)
            self._table_keys, self._table_values = keys, values

    def truncate(self, n_rows: int) -> None:
        """Drop the rows from ``n_rows`` on; the n-grams stay."""
        while len(self._rows) > n_rows:
            self._rows.popitem()
        self.n_entries = int(self._bounds[n_rows - 1, ORDERS]) if n_rows else 0
        self.n_rows = n_rows

    def forget_texts(self) -> None:
        """Drop all rows; the n-grams stay."""
        self._rows = {}
        self.n_rows = self.n_entries = 0
        self._split = None
        size = 1 << 12
        self._ids, self._counts = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=np.int32)
        self._bounds = np.zeros((1 << 8, ORDERS + 1), dtype=np.int64)
        self._lengths = np.zeros(1 << 8, dtype=np.int64)

    # ------------------------------------------------------------------ n-grams as strings, document frequencies
    def gram_ids(self, grams: Sequence[str]) -> np.ndarray:
        """Return the ids (G,) of n-grams, each a string of words joined by one blank; new n-grams are added.

        Raises
        ------
        ValueError
            For an n-gram that is empty or longer than four words.
        """
        split = [gram.split() for gram in grams]
        lengths = np.fromiter((len(words) for words in split), dtype=np.int64, count=len(split))
        if len(split) and not (lengths.min() >= 1 and lengths.max() <= ORDERS):
            bad = grams[int(np.argmax((lengths < 1) | (lengths > ORDERS)))]
            raise ValueError(f"{bad!r} is not an n-gram of one to {ORDERS} words")
        out = np.empty(len(split), dtype=np.int64)
        vocabulary = self._words
        for words in split:
            for word in words:
                if word not in vocabulary:
                    vocabulary[word] = self.n_grams
                    self.n_grams += 1
        out[:] = [vocabulary[words[0]] for words in split]
        for order in range(2, ORDERS + 1):
            where = np.flatnonzero(lengths >= order)
            self._reserve(len(where))
            word = np.fromiter((vocabulary[split[i][order - 1]] for i in where), dtype=np.int64, count=len(where))
            before = self.n_grams
            out[where], self.n_grams = kernels().extend_grams(
                word, out[where], self._table_keys, self._table_values, before
            )
            self._table_used += self.n_grams - before
        self._reserve(0)
        return out

    def names(self) -> list[str]:
        """Return all n-grams by id, each a string of words joined by one blank; length n_grams."""
        names = [""] * self.n_grams
        for word, gram in self._words.items():
            names[gram] = word
        words = list(names)
        used = np.flatnonzero(self._table_keys >= 0)
        used = used[np.argsort(self._table_values[used])]  # a prefix has a smaller id than its extensions
        keys = self._table_keys[used]
        longer = zip(self._table_values[used].tolist(), (keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist())
        for gram, prefix, word in longer:
            names[gram] = f"{names[prefix]} {words[word]}"
        return names

    def document_frequencies(self, documents: Sequence[np.ndarray]) -> np.ndarray:
        """Return the number of documents (arrays of rows) that contain each n-gram, shape (n_grams,)."""
        starts = np.zeros(len(documents) + 1, dtype=np.int64)
        np.cumsum([len(rows) for rows in documents], out=starts[1:])
        rows = np.concatenate([np.empty(0, dtype=np.int64), *documents])
        return kernels().document_frequencies(rows, starts, self.bounds, self.ids, self.n_grams)


def index_of(features: Features, tokenizer: str) -> NgramIndex:
    """Return the n-gram index that the metrics of a run share for one tokeniser."""
    return features.memo(("ngrams", tokenizer), NgramIndex)


def rows_of(features: Features, ids: np.ndarray, tokenizer: str, index: NgramIndex | None = None) -> np.ndarray:
    """Return the rows of interned texts in an n-gram index.

    Parameters
    ----------
    features : Features
        Feature cache of the run; each distinct text is counted once.
    ids : ndarray
        Text ids, any shape.
    tokenizer : str
        Name of the tokeniser.
    index : NgramIndex, optional
        Default: :func:`index_of`.

    Returns
    -------
    ndarray
        Shape of ``ids``, int64.
    """
    index = index_of(features, tokenizer) if index is None else index
    ids = np.asarray(ids, dtype=np.int64)

    def compute(texts: list[str]) -> list[int]:
        text_ids = features.intern(texts)
        words = word_rows_of(features, text_ids, tokenizer)
        return index.add_split(
            tokens_of(features, text_ids, tokenizer), word_index_of(features, tokenizer), words
        ).tolist()

    rows = features.per_text(("ngram-row", index.key, tokenizer), ids, compute)
    return np.asarray(rows, dtype=np.int64).reshape(ids.shape)
