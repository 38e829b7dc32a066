"""Embedding ``bow``: counts of the most frequent words of the task's references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from harness.errors import HarnessError
from harness_metrics.tokenisers.plain_words import plain_words


class BagOfWords:
    """Word counts over a vocabulary fitted on the references; lower case, words outside the vocabulary are ignored.

    Parameters
    ----------
    vocabulary : int
        Number of words kept, by falling frequency and then alphabetically; at least 1.

    Examples
    --------
    >>> bow = BagOfWords(vocabulary=2)
    >>> bow.fit([["a dog", "a cat"], ["the dog runs"]])
    >>> bow.encode(["A dog, a dog", "zebra"]).tolist()
    [[2.0, 2.0], [0.0, 0.0]]
    """

    name = "bow"
    held_fixed = "vocabulary held fixed"
    """Note of intervals: the vocabulary comes from the references and is not fitted again."""

    def __init__(self, *, vocabulary: int = 5000) -> None:
        if vocabulary < 1:
            raise HarnessError(f"embedding 'bow': a vocabulary has at least one word; found {vocabulary!r}")
        self.vocabulary = vocabulary
        self._index: dict[str, int] | None = None

    def signature(self) -> str:
        """Return ``bow|VOCABULARY``."""
        return f"bow|{self.vocabulary}"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Choose the vocabulary. Raises :class:`HarnessError` if the references hold no word."""
        counts = Counter(word for texts in references for text in texts for word in plain_words(text, joiners="'"))
        if not counts:
            raise HarnessError("embedding 'bow' takes its vocabulary from the task's references, and they hold no word")
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        self._index = {word: i for i, word in enumerate(ranked[: self.vocabulary])}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return word counts, float32, shape (T, d); d is the size of the vocabulary. Raises :class:`HarnessError` before ``fit``."""
        if self._index is None:
            raise HarnessError("embedding 'bow' must be fitted on the task's references before it encodes texts")
        out = np.zeros((len(texts), len(self._index)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in plain_words(text, joiners="'"):
                column = self._index.get(word)
                if column is not None:
                    out[row, column] += 1
        return out
