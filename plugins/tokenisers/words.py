"""Texts as runs of word ids, once per run: what sequence measures (ROUGE-L) read."""

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
    """Interned word sequences; texts are split at single blanks, so an empty text is one empty word, as in the toolkit."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._words = np.zeros(1 << 10, dtype=np.int64)
        self._starts = np.zeros(1 << 8, dtype=np.int64)

    @property
    def n_words(self) -> int:
        """Distinct words."""
        return len(self._vocabulary)

    @property
    def words(self) -> np.ndarray:
        """(sum of lengths,) word ids; row r is ``words[starts[r] : starts[r + 1]]``."""
        return self._words[: self._starts[len(self._rows)]]

    @property
    def starts(self) -> np.ndarray:
        """(rows + 1,)."""
        return self._starts[: len(self._rows) + 1]

    def words_from(self, first: int) -> list[str]:
        """The words numbered ``first`` and on."""
        return list(islice(self._vocabulary, first, None))

    def runs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows' word ids end to end, and the (rows + 1,) bounds of each row in them."""
        first = self.starts[rows]
        lengths = self.starts[rows + 1] - first
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        return self.words[np.repeat(first - bounds[:-1], lengths) + np.arange(bounds[-1])], bounds

    def add(self, texts: Iterable[str]) -> np.ndarray:
        """Rows (T,) of tokenised texts; equal texts share one."""
        known, vocabulary = self._rows, self._vocabulary
        first, end = len(known), int(self._starts[len(known)])
        rows: list[int] = []
        new: list[str] = []  # one flat list: see NgramIndex.add
        ends: list[int] = []
        for text in texts:
            row = known.setdefault(text, len(known))
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
        self._starts = ensure_rows(self._starts, len(known) + 1)
        self._starts[first + 1 : len(known) + 1] = ends
        return np.asarray(rows, dtype=np.int64)


class WordMap:
    """Numbers of another kind for the words of one :class:`WordIndex`, found once per word.

    ``number`` gives the numbers of new words, negative where a word has none.
    """

    def __init__(self, index: WordIndex, number: Callable[[list[str]], np.ndarray]) -> None:
        self.index, self._number = index, number
        self._numbers = np.zeros(0, dtype=np.int64)

    def numbers_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which of the R rows have no word of a negative number, (R,) bool; the numbers in those rows end to end; their bounds."""
        if len(self._numbers) < self.index.n_words:
            self._numbers = np.concatenate([self._numbers, self._number(self.index.words_from(len(self._numbers)))])
        flat, bounds = self.index.runs(rows)
        numbers = self._numbers[flat]
        good = np.ones(len(rows), dtype=bool)
        if len(rows) and numbers.min() < 0:
            good = np.minimum.reduceat(numbers, bounds[:-1]) >= 0  # no row is empty
            lengths = np.diff(bounds)
            numbers, bounds = numbers[np.repeat(good, lengths)], np.concatenate([[0], np.cumsum(lengths[good])])
        return good, numbers, bounds


def word_index_of(features: Features, tokenizer: str) -> WordIndex:
    """The word index that the metrics of a run share for one tokeniser."""
    return features.memo(("words", tokenizer), WordIndex)


def word_rows_of(features: Features, ids: np.ndarray, tokenizer: str) -> np.ndarray:
    """Rows of interned texts in :func:`word_index_of`, shaped like ``ids``."""
    index = word_index_of(features, tokenizer)
    ids = np.asarray(ids, dtype=np.int64)

    def compute(texts: list[str]) -> list[int]:
        return index.add(tokens_of(features, features.intern(texts), tokenizer)).tolist()

    return np.asarray(features.per_text(("word-row", tokenizer), ids, compute), dtype=np.int64).reshape(ids.shape)
