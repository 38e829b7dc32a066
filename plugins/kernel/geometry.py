"""What all embedding metrics need of the vectors of an example: Gram matrices, distances, pair statistics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_ROUNDING = 1e-13
"""Squared distances below this share of the squared norms are rounding: the vectors are equal."""
CACHE_BYTES = 8 << 20
"""Vectors are handled this many bytes at a time."""


def stacked(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, int]:
    """(B, n + m, d) of two samples (n, d), (m, d) or (B, n, d), (B, m, d), and n; raises ValueError when they do not fit."""
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != y.ndim or x.ndim not in (2, 3) or x.shape[-1] != y.shape[-1] or x.shape[:-2] != y.shape[:-2]:
        raise ValueError(
            f"samples have shapes {x.shape} and {y.shape}; expected (n, d), (m, d) or (B, n, d), (B, m, d)"
        )
    if 0 in x.shape[-2:] or 0 in y.shape[-2:]:
        raise ValueError(f"samples have shapes {x.shape} and {y.shape}: each needs a vector")
    return np.concatenate([x, y], axis=-2).reshape(-1, x.shape[-2] + y.shape[-2], x.shape[-1]), x.shape[-2]


def shaped_like(values: np.ndarray, x: np.ndarray) -> np.ndarray | float:
    """(B,) values as they are for a batch of samples, as a float for a single pair."""
    return values if np.ndim(x) == 3 else float(values[0])


def gram(vectors: np.ndarray) -> np.ndarray:
    """(B, N, N) float64 inner products of vectors (B, N, d) about their mean over N: translations change nothing."""
    batch, size, width = vectors.shape
    out = np.empty((batch, size, size))
    for part in _parts(batch, 8 * size * width):
        centred = vectors[part].astype(np.float64)
        centred -= centred.mean(axis=1, keepdims=True)
        np.matmul(centred, centred.transpose(0, 2, 1), out=out[part])
    return out


def squared_distances(inner: np.ndarray) -> np.ndarray:
    """(B, N, N) squared Euclidean distances from a Gram matrix; equal vectors have exactly 0."""
    norms = np.einsum("bii->bi", inner)
    scale = norms[:, :, None] + norms[:, None, :]
    squared = scale - 2.0 * inner
    squared[squared <= _ROUNDING * scale] = 0.0
    return squared


def upper(matrices: np.ndarray) -> np.ndarray:
    """(B, N(N-1)/2) entries above the diagonal."""
    rows, columns = np.triu_indices(matrices.shape[-1], 1)
    return matrices[:, rows, columns]


def two_sample(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """(B,) mean k(C, C) + mean k(R, R) - 2 mean k(C, R) of kernels (B, N, N); see :func:`two_sample_form` for the estimators."""
    within_c, within_r = _pairs(kernel.shape[-1], n, estimator)
    if not within_c or not within_r:
        return np.full(len(kernel), np.nan)
    sums = [part.sum(axis=(1, 2)) for part in (kernel[:, :n, :n], kernel[:, n:, n:])]
    if estimator == "unbiased":
        diagonal = np.einsum("bii->bi", kernel)
        sums = [sums[0] - diagonal[:, :n].sum(axis=1), sums[1] - diagonal[:, n:].sum(axis=1)]
    return sums[0] / within_c + sums[1] / within_r - 2.0 * kernel[:, :n, n:].mean(axis=(1, 2))


def _pairs(size: int, n: int, estimator: str) -> tuple[int, int]:
    m = size - n
    if estimator == "biased":
        return n * n, m * m
    if estimator == "unbiased":
        return n * (n - 1), m * (m - 1)
    raise ValueError(f"estimator is biased or unbiased; found {estimator!r}")


def two_sample_form(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """(B, N, N) forms (see :mod:`harness.stats.forms`) of mean k(C, C) + mean k(R, R) - 2 mean k(C, R).

    ``biased`` keeps the diagonals (V-statistic); ``unbiased`` leaves them out and divides by n(n-1), m(m-1): NaN when
    n = 1 or m = 1. Uses s'Ks = sum of the candidates' row sums - pairs with different labels.
    """
    m = kernel.shape[-1] - n
    within_c, within_r = _pairs(n + m, n, estimator)
    if not within_c or not within_r:
        return np.full(kernel.shape, np.nan)
    sums = kernel.sum(axis=2)
    if estimator == "unbiased":
        sums = sums - np.einsum("bii->bi", kernel)
    form = kernel * -(1 / within_c + 1 / within_r + 2 / (n * m))
    form += (sums / (within_c * m))[:, :, None]
    form += (sums / (within_r * n))[:, None, :]
    return form


def _parts(batch: int, row_bytes: int) -> Iterator[slice]:
    step = max(1, CACHE_BYTES // row_bytes)
    return (slice(start, start + step) for start in range(0, batch, step))
