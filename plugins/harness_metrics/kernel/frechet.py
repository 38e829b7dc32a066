"""Frechet distance between Gaussian fits of two samples of vectors,
without a d x d matrix.

    |mu_C - mu_R|^2 + Tr(S_C + S_R - 2 (S_C S_R)^{1/2})

(Dowson & Landau 1982; Chan et al. 2022, A.6, where the matrix square root is called the
bottleneck.) Covariances have the divisor n - 1; that of a single vector is 0. For
centred samples A (n, d) and B (m, d), Tr (S_C S_R)^{1/2} is the nuclear norm of the
n x m matrix A B' / sqrt((n-1)(m-1)). This matrix and all other terms are read from the
N x N Gram matrix, for the observed labels and for any relabeling.

LAPACK computes the singular values of relabelings and of corpora. The number of an
example needs none of its speed, and takes them from the eigenvalues of a symmetric
matrix, which have equal bits everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from caption_kernels import eigenvalues
from harness.stats import ties
from harness.stats.permutation_p_values import p_values
from harness_metrics.kernel import geometry, symmetric_relabelings

_CHUNK = 1 << 15
"""Maximum number of relabelings evaluated at once."""


def of_vectors(vectors: np.ndarray, n: int) -> np.ndarray:
    """Return the distances (B,) of the first n vectors of each (B, N, d) from the
    others.
    """
    if min(n, vectors.shape[1] - n) > vectors.shape[2]:
        return _narrow(vectors[:, :n], vectors[:, n:])
    return from_gram(geometry.gram(vectors), n)


def _narrow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return distances (B,) of samples larger than d.

    For A = Q R the nuclear norm of A B' is that of the d x d matrix R_A R_B'.
    """
    # With more texts than dimensions a d x d product is the smaller one: A = Q R has
    # the singular values of R.
    means = list[np.ndarray]()
    factors = list[np.ndarray]()
    for sample in (x.astype(np.float64), y.astype(np.float64)):
        mean = sample.mean(axis=1, keepdims=True)
        means.append(mean[:, 0])
        factor = np.linalg.qr(sample - mean, mode="r")
        factors.append(factor / np.sqrt(sample.shape[1] - 1))

    a, b = factors
    nuclear = np.linalg.svd(a @ b.transpose(0, 2, 1), compute_uv=False).sum(axis=1)
    spread = sum(np.einsum("bij,bij->b", factor, factor) for factor in factors)
    between = ((means[0] - means[1]) ** 2).sum(axis=1)
    return np.maximum(between + spread - 2.0 * nuclear, 0.0)


def from_gram(inner: np.ndarray, n: int) -> np.ndarray:
    """Return distances (B,) for Gram matrices (B, N, N) with the n candidates first."""
    return _distances(
        inner[:, :n, :n], inner[:, :n, n:], inner[:, n:, n:], _sums_of_lapack
    )


def of_examples(inner: np.ndarray, n: int) -> np.ndarray:
    """Return the distances of :func:`from_gram`,
    with equal bits on every processor for exact Gram matrices.
    """
    return _distances(
        inner[:, :n, :n], inner[:, :n, n:], inner[:, n:, n:], _sums_of_eigenvalues
    )


def _sums_of_eigenvalues(across: np.ndarray) -> np.ndarray:
    """Return the sums (W,) of the singular values of A B' of the centred samples, for
    products (W, n, m), by single operations.
    """
    batch, n, m = across.shape
    centred = across - across.mean(axis=1, keepdims=True)
    centred -= centred.mean(axis=2, keepdims=True)

    # With zeros beside a matrix and its transpose, the eigenvalues are the singular
    # values and their negatives. Those of (A B')' A B' would be their squares, of which
    # small ones lose half of their digits.
    symmetric = np.zeros((batch, n + m, n + m))
    symmetric[:, :n, n:] = centred
    symmetric[:, n:, :n] = centred.transpose(0, 2, 1)
    return np.maximum(eigenvalues(symmetric), 0.0).sum(axis=1)


def relabel(inner: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return distances (B, P) for Gram matrices (B, N, N) under labels (P, N), bool,
    with n candidates in each row.
    """
    labels = np.asarray(labels, dtype=bool)
    number, size = labels.shape
    n = int(labels[0].sum())
    candidates = np.nonzero(labels)[1].reshape(number, n)
    references = np.nonzero(~labels)[1].reshape(number, size - n)

    out = np.empty((len(inner), number))
    for row, matrix in enumerate(inner):
        for start in range(0, number, _CHUNK):
            c = candidates[start : start + _CHUNK]
            r = references[start : start + _CHUNK]
            within_c = matrix[c[:, :, None], c[:, None, :]]
            across = matrix[c[:, :, None], r[:, None, :]]
            within_r = matrix[r[:, :, None], r[:, None, :]]
            out[row, start : start + _CHUNK] = _distances(
                within_c, across, within_r, _sums_of_lapack
            )
    return out


def exact_p_values(inner: np.ndarray, n: int) -> np.ndarray:
    """Return exact p-values (B,) for Gram matrices (B, N, N); for n = m half of the
    relabelings are evaluated.

    The tolerance of ties is relative to the mean squared distance of the vectors from
    their mean.
    """
    null = (
        relabel(inner, labels)
        for labels in symmetric_relabelings.chunks(n, inner.shape[-1] - n, _CHUNK)
    )
    scale: np.ndarray = np.einsum("bii->b", geometry.centre(inner)) / inner.shape[-1]
    tolerance = ties.tolerance(scale, ties.FLOAT32)
    return p_values(from_gram(inner, n), null, "upper", "exact", tolerance=tolerance)


def _distances(
    within_c: np.ndarray,
    across: np.ndarray,
    within_r: np.ndarray,
    singular_sums: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return distances (W,) for the blocks (W, n, n), (W, n, m) and (W, m,
    m) of Gram matrices.

    ``singular_sums`` maps products (W, n, m) to the sums (W,) of the singular values of
    A B' of the centred samples.
    """
    n, m = across.shape[1:]
    mean_c = within_c.mean(axis=(1, 2))
    mean_r = within_r.mean(axis=(1, 2))
    means = mean_c + mean_r - 2.0 * across.mean(axis=(1, 2))

    # the traces of the covariances; that of a single vector is 0
    spread = np.zeros(len(across))
    if n > 1:
        spread += (np.einsum("wii->w", within_c) - n * mean_c) / (n - 1)
    if m > 1:
        spread += (np.einsum("wii->w", within_r) - m * mean_r) / (m - 1)
    if n > 1 and m > 1:
        # Tr (S_C S_R)^{1/2} is the sum of the singular values of A B' /
        # sqrt((n-1)(m-1)): S_C S_R = A'A B'B and (B A')(A B') have the same eigenvalues
        # other than 0. The root of a d x d matrix, the bottleneck of the usual formula,
        # is never taken.
        spread -= 2.0 * singular_sums(across) / np.sqrt((n - 1) * (m - 1))

    # Equal samples cancel to a rounding error, which may be negative.
    return np.maximum(means + spread, 0.0)


def _sums_of_lapack(across: np.ndarray) -> np.ndarray:
    """Return the sums (W,) of the singular values of A B' of the centred samples,
    for products (W, n, m).
    """
    return np.linalg.svd(_contract_products(across), compute_uv=False).sum(axis=1)


def _contract_products(across: np.ndarray) -> np.ndarray:
    """Return A B' of the centred samples, for products (W, n, m); the smaller sample
    loses its redundant dimension.
    """
    if across.shape[1] < across.shape[2]:
        across = across.transpose(0, 2, 1)
    rows, columns = across.shape[1:]
    # Centring the smaller sample by an orthonormal basis of the contrasts leaves one
    # column less than subtracting its mean would, and the same singular values.
    products = across.reshape(-1, columns) @ helmert(columns)
    narrow = products.reshape(-1, rows, columns - 1)
    return narrow - narrow.mean(axis=1, keepdims=True)


def helmert(size: int) -> np.ndarray:
    """Return an orthonormal basis of the vectors that sum to 0, shape (size, size - 1).

    >>> helmert(2).round(4).tolist()
    [[0.7071], [-0.7071]]
    """
    basis = np.triu(np.ones((size, size - 1)))
    basis[np.arange(1, size), np.arange(size - 1)] = -np.arange(1, size)
    return basis / np.sqrt(np.arange(1, size) * np.arange(2, size + 1))
