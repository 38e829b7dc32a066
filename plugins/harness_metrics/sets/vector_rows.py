"""Vectors of texts as rows of numbers: sufficient statistics of corpus metrics that pool the embeddings of all texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError


class Texts(NamedTuple):
    """All T texts of a corpus."""

    rows: np.ndarray
    """Row of the example in the statistics, shape (T,)."""
    is_candidate: np.ndarray
    """Bool, shape (T,)."""
    vectors: np.ndarray
    """Vectors, float32, shape (T, d)."""

    @property
    def candidates(self) -> np.ndarray:
        """Vectors of the candidates, shape (n, d)."""
        return self.vectors[self.is_candidate]

    @property
    def references(self) -> np.ndarray:
        """Vectors of the references, shape (m, d)."""
        return self.vectors[~self.is_candidate]


def pack(vectors: np.ndarray, n: int) -> np.ndarray:
    """Return n, m, d and the N d numbers of vectors (B, N, d), the n candidates first, float64, shape (B, 3 + N d).

    >>> pack(np.array([[[1.0, 2.0], [3.0, 4.0]]]), 1).tolist()
    [[1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0]]
    """
    batch, size, width = vectors.shape
    head = np.full((batch, 3), (n, size - n, width))
    return np.concatenate([head, vectors.reshape(batch, -1)], axis=1, dtype=np.float64)


def unpack(stats: np.ndarray, metric: str) -> Texts:
    """Return the texts of rows of :func:`pack`; rows of small examples end in NaN.

    Raises :class:`HarnessError`, which names the metric, if the vectors of the rows differ in length.
    """
    sizes = stats[:, :2].astype(np.int64)
    widths = np.unique(stats[:, 2].astype(np.int64))
    if len(widths) > 1:
        raise HarnessError(
            f"{metric}: the statistics hold vectors of {' and '.join(map(str, widths))} numbers; expected one length"
        )
    vectors = stats[:, 3:].reshape(len(stats), -1, int(widths[0]))
    rows, columns = np.nonzero(np.arange(vectors.shape[1]) < sizes.sum(axis=1)[:, None])
    return Texts(rows, columns < sizes[rows, 0], vectors[rows, columns].astype(np.float32))
