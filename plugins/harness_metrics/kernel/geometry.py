"""Gram matrices, distances and two-sample statistics of the vectors of an example, shared by the embedding metrics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_ROUNDING = 1e-13
"""Squared distances below this fraction of the squared norms are rounding errors; the vectors are taken as equal."""
_EPSILONS = 16
"""Vectors that differ by at most this many machine epsilons of their type, relative to their length, are taken as equal."""
CACHE_BYTES = 8 << 20
"""Bytes of vectors that are centred at once."""


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (..., d) scaled to unit length, float64; zero vectors stay zero."""
    vectors = vectors.astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def gram(vectors: np.ndarray) -> np.ndarray:
    """Return the inner products of vectors (B, N, d) about their mean over N, float64, shape (B, N, N).

    They are exactly 0 for an example whose vectors differ by rounding alone, see :func:`rounding`.
    """
    batch, size, width = vectors.shape
    out = np.empty((batch, size, size))
    for rows in _parts(batch, 8 * size * width):
        centred = vectors[rows].astype(np.float64)
        # Distances do not change when the mean is subtracted, but the Gram matrix loses the large common term whose
        # cancellation would cost digits.
        centred -= centred.mean(axis=1, keepdims=True)
        np.matmul(centred, centred.transpose(0, 2, 1), out=out[rows])
    out[np.sqrt(np.einsum("bii->bi", out).max(axis=1)) <= rounding(vectors)] = 0.0
    return out


def rounding(vectors: np.ndarray) -> np.ndarray:
    """Return the length (B,) of differences within examples of vectors (B, N, d) that count as rounding errors.

    It is a few machine epsilons of the type of the vectors (float32 for most embeddings) times the length of the first vector. A
    model gives nearly, but not exactly, equal vectors to texts that it does not distinguish. If all texts of an example are such,
    statistics without a unit (the kernel of MMD) and p-values would be functions of the rounding errors.
    """
    first = vectors[:, 0].astype(np.float64)
    epsilon = np.finfo(np.result_type(vectors, np.float32)).eps
    return _EPSILONS * float(epsilon) * np.sqrt(np.einsum("bd,bd->b", first, first))


def squared_distances(inner: np.ndarray) -> np.ndarray:
    """Return squared Euclidean distances (B, N, N) for Gram matrices (B, N, N); exactly 0 for equal vectors."""
    norms = np.einsum("bii->bi", inner)
    scale = norms[:, :, None] + norms[:, None, :]
    squared = scale - 2.0 * inner
    # |x|^2 + |y|^2 - 2 <x, y> of equal vectors is a rounding error of either sign, and its square root would be 1e-8,
    # not 0.
    squared[squared <= _ROUNDING * scale] = 0.0
    return squared


def without_each(matrices: np.ndarray, n: int) -> np.ndarray:
    """Return matrices (B, N, N) without row and column i, for each of the first n texts i; shape (B, n, N - 1, N - 1)."""
    smaller = [np.delete(np.delete(matrices, i, axis=1), i, axis=2) for i in range(n)]
    return np.stack(smaller, axis=1)


def upper(matrices: np.ndarray) -> np.ndarray:
    """Return the entries above the diagonal of matrices (B, N, N), shape (B, N(N-1)/2)."""
    rows, columns = np.triu_indices(matrices.shape[-1], 1)
    return matrices[:, rows, columns]


def two_sample(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """Return mean k(C, C) + mean k(R, R) - 2 mean k(C, R), shape (B,), for kernels (B, N, N) with the n candidates first.

    See :func:`two_sample_form` for the estimators.
    """
    within_c, within_r = _pairs(kernel.shape[-1], n, estimator)
    if not within_c or not within_r:
        return np.full(len(kernel), np.nan)
    sums = [block.sum(axis=(1, 2)) for block in (kernel[:, :n, :n], kernel[:, n:, n:])]
    if estimator == "unbiased":
        diagonal = np.einsum("bii->bi", kernel)
        sums = [sums[0] - diagonal[:, :n].sum(axis=1), sums[1] - diagonal[:, n:].sum(axis=1)]
    return sums[0] / within_c + sums[1] / within_r - 2.0 * kernel[:, :n, n:].mean(axis=(1, 2))


def _pairs(size: int, n: int, estimator: str) -> tuple[int, int]:
    """Return the numbers of ordered pairs within the candidates and within the references that the estimator averages."""
    m = size - n
    if estimator == "biased":
        return n * n, m * m
    return n * (n - 1), m * (m - 1)


def two_sample_form(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """Return forms (see :mod:`harness.stats.forms`) of mean k(C, C) + mean k(R, R) - 2 mean k(C, R).

    Uses s'Ks = sum of the row sums of the candidates - sum over pairs with different labels. The statistic does not change when a
    constant is added to the kernel. The forms are those of K - max K, which are exactly 0 for a constant kernel.

    Parameters
    ----------
    kernel : ndarray, shape (B, N, N)
        Symmetric kernel matrices.
    n : int
        Number of candidates.
    estimator : {'biased', 'unbiased'}
        ``biased`` includes the diagonals (V-statistic); ``unbiased`` excludes them and divides by n(n-1) and m(m-1).

    Returns
    -------
    ndarray, shape (B, N, N)
        Forms; NaN for ``unbiased`` with n = 1 or m = 1.

    Raises
    ------
    ValueError
        For an unknown estimator.
    """
    m = kernel.shape[-1] - n
    within_c, within_r = _pairs(n + m, n, estimator)
    if not within_c or not within_r:
        return np.full(kernel.shape, np.nan)
    # The statistic does not change with a constant. After the shift a constant kernel is exactly 0, so that texts
    # that are not told apart have the statistic 0 under every label, and not rounding errors that would make
    # p-values.
    kernel = kernel - kernel.max(axis=(1, 2), keepdims=True)
    sums = kernel.sum(axis=2)
    if estimator == "unbiased":
        sums = sums - np.einsum("bii->bi", kernel)
    # With s the labels: s'Ks = sum_p s_p K_p - sum of K over pairs with s_p = 1 and s_q = 0, where K_p is a row sum,
    # and likewise for 1 - s. All three means are then sums over pairs with different labels, which is what a form
    # evaluates. The row sums enter once for each of the m (or n) texts of the other sample.
    form = kernel * -(1 / within_c + 1 / within_r + 2 / (n * m))
    form += (sums / (within_c * m))[:, :, None]
    form += (sums / (within_r * n))[:, None, :]
    return form


def _parts(batch: int, row_bytes: int) -> Iterator[slice]:
    step = max(1, CACHE_BYTES // row_bytes)
    return (slice(start, start + step) for start in range(0, batch, step))
