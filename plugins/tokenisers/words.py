"""Index of the word sequences of a run: each distinct text is split and numbered once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from harness.plugins.compiled.growing import ensure_rows
from harness.plugins.tokenisers.tokens import tokens_of

if TYPE_CHECKING:
    from harness.contracts import Features


class WordIndex:
    """Interned word sequences of tokenised texts.

    Texts are split at single blanks, as in the COCO caption toolkit's ROUGE-L, so that an empty text is one empty word.

    Examples
    --------
    >>> index = WordIndex()
    >>> index.add(["a dog", "a cat", "a dog"]).tolist()
    [0, 1, 0]
    >>> index.words.tolist(), index.starts.tolist()
    ([0, 1, 0, 2], [0, 2, 4])
    """

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._words = np.zeros(1 << 10, dtype=np.int64)
        self._starts = np.zeros(1 << 8, dtype=np.int64)

    @property
    def n_words(self) -> int:
        """Number of distinct words."""
        return len(self._vocabulary)

    @property
    def words(self) -> np.ndarray:
        """Word ids of all rows, shape (sum of lengths,); row r is ``words[starts[r] : starts[r + 1]]``."""
        return self._words[: self._starts[len(self._rows)]]

    @property
    def starts(self) -> np.ndarray:
        """First word of each row, then the end, shape (n_rows + 1,)."""
        return self._starts[: len(self._rows) + 1]

    def words_from(self, first: int) -> list[str]:
        """Return the words with ids from ``first`` on."""
        return list(islice(self._vocabulary, first, None))

    def runs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated word ids (W,) of rows (R,), and the bounds (R + 1,) of each row in them."""
        first = self.starts[rows]
        lengths = self.starts[rows + 1] - first
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return self.words[np.repeat(first - bounds[:-1], lengths) + np.arange(bounds[-1])], bounds

    def add(self, texts: Iterable[str]) -> np.ndarray:
        """Return the rows (T,) of tokenised texts; equal texts share a row."""
        row_of, vocabulary = self._rows, self._vocabulary
        first, end = len(row_of), int(self._starts[len(row_of)])
        rows: list[int] = []
        new: list[str] = []  # one flat list: see NgramIndex.add
        ends: list[int] = []
        for text in texts:
            row = row_of.setdefault(text, len(row_of))
            if row == first + len(ends):
                new += text.split(" ")
                ends.append(end + len(new))
            rows.append(row)
        for word in dict.fromkeys(new):
            vocabulary.setdefault(word, len(vocabulary))
        self._words = ensure_rows(self._words, end + len(new))
        self._words[end : end + len(new)] = np.fromiter(
            map(vocabulary.__getitem__, new), dtype=np.int64, count=len(new)
        )
        self._starts = ensure_rows(self._starts, len(row_of) + 1)
        self._starts[first + 1 : len(row_of) + 1] = ends
        return np.asarray(rows, dtype=np.int64)


class WordMap:
    """Numbers of another index for the words of a :class:`WordIndex`, looked up once per word.

    Parameters
    ----------
    index : WordIndex
        Index of the words.
    number : callable
        Returns the numbers (W,) of W new words, negative for a word without a number.
    """

    def __init__(self, index: WordIndex, number: Callable[[list[str]], np.ndarray]) -> None:
        self.index, self._number = index, number
        self._numbers = np.zeros(0, dtype=np.int64)

    def numbers_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the numbers of the words of rows.

        Parameters
        ----------
        rows : ndarray
            Rows of the word index, shape (R,).

        Returns
        -------
        complete : ndarray
            Shape (R,), bool: True for a row all of whose words have a number.
        numbers : ndarray
            Concatenated numbers of the C complete rows.
        bounds : ndarray
            Bounds of each complete row in ``numbers``, shape (C + 1,).
        """
        if len(self._numbers) < self.index.n_words:
            self._numbers = np.concatenate([self._numbers, self._number(self.index.words_from(len(self._numbers)))])
        flat, bounds = self.index.runs(rows)
        numbers = self._numbers[flat]
        complete = np.ones(len(rows), dtype=bool)
        if len(rows) and numbers.min() < 0:
            complete = np.minimum.reduceat(numbers, bounds[:-1]) >= 0  # no row is empty
            lengths = np.diff(bounds)
            numbers, bounds = numbers[np.repeat(complete, lengths)], np.concatenate([[0], np.cumsum(lengths[complete])])
        return complete, numbers, bounds


def word_index_of(features: Features, tokenizer: str) -> WordIndex:
    """Return the word index that the metrics of a run share for one tokeniser."""
    return features.memo(("words", tokenizer), WordIndex)


def word_rows_of(features: Features, ids: np.ndarray, tokenizer: str) -> np.ndarray:
    """Return the rows of interned texts in :func:`word_index_of`, int64, shape of ``ids``."""
    index = word_index_of(features, tokenizer)
    ids = np.asarray(ids, dtype=np.int64)

    def compute(texts: list[str]) -> list[int]:
        return index.add(tokens_of(features, features.intern(texts), tokenizer)).tolist()

    return np.asarray(features.per_text(("word-row", tokenizer), ids, compute), dtype=np.int64).reshape(ids.shape)
