"""Texts as runs of word ids, once per run: what sequence measures (ROUGE-L) read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from harness.plugins.text.ngrams import grown
from harness.plugins.text.tokens import tokens_of

if TYPE_CHECKING:
    from harness.features import Features


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
        self._words = grown(self._words, end + len(new))
        self._words[end : end + len(new)] = np.fromiter(
            map(vocabulary.__getitem__, new), dtype=np.int64, count=len(new)
        )
        self._starts = grown(self._starts, len(known) + 1)
        self._starts[first + 1 : len(known) + 1] = ends
        return np.asarray(rows, dtype=np.int64)


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
