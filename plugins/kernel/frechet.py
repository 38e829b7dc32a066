"""Frechet distance between two sets of vectors, without a d x d matrix.

    |mu_C - mu_R|^2 + Tr(S_C + S_R - 2 (S_C S_R)^{1/2}),   covariances with n - 1; a single vector has covariance 0

(Dowson & Landau 1982; Chan et al. 2022, A.7, there called bottlenecked by the matrix square root.) With centred samples A (n, d)
and B (m, d), Tr (S_C S_R)^{1/2} is the nuclear norm of A B' / sqrt((n-1)(m-1)), an n x m matrix; it and all the rest are
read from the N x N Gram matrix, also under any relabeling.
"""

from __future__ import annotations

import numpy as np

from harness.plugins.kernel import geometry
from harness.stats import permutation

_CHUNK = 1 << 15
"""Relabeled examples handled at once."""


def frechet(x: np.ndarray, y: np.ndarray) -> np.ndarray | float:
    """Frechet distance of x (n, d) and y (m, d), or (B,) values of (B, n, d) and (B, m, d); >= 0.

    Raises ValueError for shapes that do not fit.
    """
    vectors, n = geometry.stacked(x, y)
    if min(n, vectors.shape[1] - n) > vectors.shape[2]:
        return geometry.shaped_like(_narrow(vectors[:, :n], vectors[:, n:]), x)
    return geometry.shaped_like(from_gram(geometry.gram(vectors), n), x)


def _narrow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(B,) for samples larger than d: with A = Q R the nuclear norm of A B' is that of the d x d matrix R_A R_B'."""
    means, factors = [], []
    for sample in (x.astype(np.float64), y.astype(np.float64)):
        mean = sample.mean(axis=1, keepdims=True)
        means.append(mean[:, 0])
        factors.append(np.linalg.qr(sample - mean, mode="r") / np.sqrt(sample.shape[1] - 1))
    a, b = factors
    nuclear = np.linalg.svd(a @ b.transpose(0, 2, 1), compute_uv=False).sum(axis=1)
    spread = sum(np.einsum("bij,bij->b", factor, factor) for factor in factors)
    return np.maximum(((means[0] - means[1]) ** 2).sum(axis=1) + spread - 2.0 * nuclear, 0.0)


def from_gram(inner: np.ndarray, n: int) -> np.ndarray:
    """(B,) Frechet distances from Gram matrices (B, N, N), the n candidates first."""
    return _distances(inner[:, :n, :n], inner[:, :n, n:], inner[:, n:, n:])


def relabeled(inner: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(B, P) Frechet distances from Gram matrices (B, N, N) under labels (P, N) bool, n candidates in each row."""
    labels = np.asarray(labels, dtype=bool)
    number, size = labels.shape
    n = int(labels[0].sum())
    candidates = np.nonzero(labels)[1].reshape(number, n)
    references = np.nonzero(~labels)[1].reshape(number, size - n)
    out = np.empty((len(inner), number))
    for row, matrix in enumerate(inner):
        for start in range(0, number, _CHUNK):
            c, r = candidates[start : start + _CHUNK], references[start : start + _CHUNK]
            blocks = (matrix[a[:, :, None], b[:, None, :]] for a, b in ((c, c), (c, r), (r, r)))
            out[row, start : start + _CHUNK] = _distances(*blocks)
    return out


def exact_p_values(inner: np.ndarray, n: int) -> np.ndarray:
    """(B,) exact p-values over all relabelings (half of them when n = m: the distance is symmetric)."""
    m = inner.shape[-1] - n
    total = permutation.count(n, m) // (2 if n == m else 1)
    observed = from_gram(inner, n)
    extreme, seen = np.zeros(len(inner), dtype=np.int64), 0
    for chunk in permutation.chunks(n, m, _CHUNK):
        chunk = chunk[: total - seen]  # with n = m the first half has text 0 among the candidates
        if not len(chunk):
            break
        seen += len(chunk)
        extreme += permutation.tail_counts(relabeled(inner, chunk), observed, "upper")
    return extreme / total


def _distances(within_c: np.ndarray, across: np.ndarray, within_r: np.ndarray) -> np.ndarray:
    """(W,) from the blocks (W, n, n), (W, n, m), (W, m, m) of Gram matrices."""
    n, m = across.shape[1:]
    mean_c, mean_r = within_c.mean(axis=(1, 2)), within_r.mean(axis=(1, 2))
    means = mean_c + mean_r - 2.0 * across.mean(axis=(1, 2))
    spread = np.zeros(len(across))
    if n > 1:
        spread += (np.einsum("wii->w", within_c) - n * mean_c) / (n - 1)
    if m > 1:
        spread += (np.einsum("wii->w", within_r) - m * mean_r) / (m - 1)
    if n > 1 and m > 1:
        nuclear = np.linalg.svd(_reduced(across), compute_uv=False).sum(axis=1)
        spread -= 2.0 * nuclear / np.sqrt((n - 1) * (m - 1))
    return np.maximum(means + spread, 0.0)


def _reduced(across: np.ndarray) -> np.ndarray:
    """A B' of the centred samples, in the coordinates of the smaller sample that are left by centring."""
    if across.shape[1] < across.shape[2]:
        across = across.transpose(0, 2, 1)
    rows, columns = across.shape[1:]
    narrow = (across.reshape(-1, columns) @ helmert(columns)).reshape(-1, rows, columns - 1)
    return narrow - narrow.mean(axis=1, keepdims=True)


def helmert(size: int) -> np.ndarray:
    """(size, size - 1) orthonormal basis of the vectors that sum to 0."""
    basis = np.triu(np.ones((size, size - 1)))
    basis[np.arange(1, size), np.arange(size - 1)] = -np.arange(1, size)
    return basis / np.sqrt(np.arange(1, size) * np.arange(2, size + 1))
