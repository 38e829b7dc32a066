"""Embedding ``bow``: counts of words, each word a dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from harness.errors import HarnessError
from harness_metrics.tokenisers.plain_words import plain_words

DIMENSIONS = 4096
"""A vector takes 16 KB, and a run holds those of all texts of a corpus metric."""


class BagOfWords:
    """Word counts in lower case.

    The dimension of a word is a hash of it, so that nothing is fitted.

    Two given words share a dimension with a probability of one in ``dimensions``.
    Vectors of one example (:meth:`encode_set`) have a dimension for each word: texts
    without a common word are at right angles.

    Parameters
    ----------
    dimensions : int
        Length of the vectors; at least 1.

    Raises
    ------
    HarnessError
        Without a dimension.

    References
    ----------
    Weinberger et al. 2009, *Feature Hashing for Large Scale Multitask Learning*,
    without signs: vectors hold counts.

    Examples
    --------
    >>> bow = BagOfWords()
    >>> dog, zebra = bow.encode(["A dog, a dog", "zebra"])
    >>> sorted(dog[dog > 0].tolist()), float(dog @ zebra)
    ([2.0, 2.0], 0.0)
    """

    name = "bow"

    def __init__(self, *, dimensions: int = DIMENSIONS) -> None:
        if dimensions < 1:
            raise HarnessError(
                "embedding 'bow': vectors have at least one dimension; "
                f"found {dimensions!r}"
            )
        self.dimensions = dimensions

    def signature(self) -> str:
        """Return ``bow|hashed:DIMENSIONS``."""
        return f"bow|hashed:{self.dimensions}"

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: a vector depends on its text alone."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return word counts, float32, shape (T, dimensions)."""
        rows = [plain_words(text, joiners="'") for text in texts]
        columns = {word: self._dimension(word) for words in rows for word in words}
        return self._counts(rows, columns)

    def encode_set(self, texts: Sequence[str]) -> np.ndarray:
        """Return word counts of the texts of an example, float32, shape (N,
        dimensions); up to ``dimensions`` words do not share one.
        """
        rows = [plain_words(text, joiners="'") for text in texts]
        words = {word for row in rows for word in row}
        columns = {word: self._dimension(word) for word in words}
        if len(set(columns.values())) < len(columns):
            columns = self._separate(columns)
        return self._counts(rows, columns)

    def _dimension(self, word: str) -> int:
        return hash_word(word) % self.dimensions

    def _separate(self, columns: Mapping[str, int]) -> dict[str, int]:
        """Return the dimensions with words moved to the next free one where another
        word has theirs.
        """
        # In alphabetical order the words of an example decide alone: neither the order
        # of the texts nor the side that a word comes from moves one.
        separate: dict[str, int] = {}
        used: set[int] = set()
        for word in sorted(columns):
            column = columns[word]
            while column in used and len(used) < self.dimensions:
                column = (column + 1) % self.dimensions
            used.add(column)
            separate[word] = column
        return separate

    def _counts(
        self, rows: Sequence[Sequence[str]], columns: Mapping[str, int]
    ) -> np.ndarray:
        """Return the counts of the words of each text, shape (T, dimensions),
        in the dimensions of the words.
        """
        counts = np.zeros((len(rows), self.dimensions), dtype=np.float32)
        owners = np.repeat(np.arange(len(rows)), [len(words) for words in rows])
        dimensions = np.array(
            [columns[word] for words in rows for word in words], dtype=np.int64
        )
        np.add.at(counts, (owners, dimensions), np.float32(1))
        return counts


@lru_cache(maxsize=1 << 16)
def hash_word(word: str) -> int:
    """Return a hash of a word, below 2^64, that is the same on every machine.

    >>> hash_word("dog")
    4144657192359730335
    """
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
