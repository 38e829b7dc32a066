"""Gram matrices, distances and two-sample statistics of the vectors of an example,
shared by the embedding metrics.

A matrix product of BLAS adds in an order that depends on the processor and on the
number of threads. Vectors of whole numbers, such as counts of words, have exact inner
products in any order: what is computed from them by single operations of arithmetic,
square roots and the sums of numpy has equal bits everywhere. Inner products of other
vectors are equal up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.stats import ties

_ROUNDING = 1e-13
"""Squared distances below this fraction of the squared norms are rounding errors; the
vectors are taken as equal.
"""
_EPSILONS = 16
"""Vectors that differ by at most this many machine epsilons of their type, relative to
their length, are taken as equal.
"""
CACHE_BYTES = 8 << 20
"""Bytes of vectors that are multiplied at once."""
_LARGEST_WHOLE = 2.0**26
"""Largest squared length of vectors whose products,
also those of two squared lengths, are exact.
"""


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (..., d) scaled to unit length, float64;
    zero vectors stay zero.
    """
    vectors = vectors.astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def whole_products(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner products of vectors of whole numbers,
    and which examples have such vectors.

    Parameters
    ----------
    vectors : ndarray, shape (B, N, d)
        Vectors.

    Returns
    -------
    products : ndarray, shape (B, N, N)
        Inner products, float64, exact; not set for examples with other vectors.
    exact : ndarray, shape (B,)
        True for examples whose vectors hold whole numbers, with squared lengths of at
        most 2^26.

    Examples
    --------
    >>> products, exact = whole_products(
    ...     np.array([[[1.0, 2.0], [0.0, 3.0]], [[0.5, 1.0], [1.0, 0.0]]])
    ... )
    >>> exact.tolist(), products[0].tolist()
    ([True, False], [[5.0, 6.0], [6.0, 9.0]])
    """
    batch, size, width = vectors.shape
    products = np.empty((batch, size, size))

    # One text tells most examples with other vectors.
    exact: np.ndarray = are_whole(vectors[:, :1])
    for rows in _blocks(batch, 8 * size * width):
        examples = np.flatnonzero(exact[rows]) + rows.start
        examples = examples[are_whole(vectors[examples])]
        exact[rows] = False

        numbers = vectors[examples].astype(np.float64)
        products[examples] = np.matmul(numbers, numbers.transpose(0, 2, 1))
        squared_lengths = np.diagonal(products[examples], axis1=1, axis2=2)
        exact[examples] = squared_lengths.max(axis=1) <= _LARGEST_WHOLE
    return products, exact


def are_whole(vectors: np.ndarray) -> np.ndarray:
    """Return whether the vectors of each example hold whole numbers alone,
    shape (B,), for vectors (B, N, d).
    """
    return (np.rint(vectors) == vectors).all(axis=(1, 2))


def gram(vectors: np.ndarray) -> np.ndarray:
    """Return the inner products of vectors (B, N, d) about a common point of each
    example, float64, shape (B, N, N).

    The point is the mean over N. For vectors of whole numbers it is 0 (see
    :func:`whole_products`), and the inner products and squared distances are exact.
    Inner products of other vectors are exactly 0 for an example whose vectors differ by
    rounding alone, see :func:`rounding`.
    """
    _, size, width = vectors.shape
    out, exact = whole_products(vectors)

    others = np.flatnonzero(~exact)
    for block in _blocks(len(others), 8 * size * width):
        rows = others[block]
        centred = vectors[rows].astype(np.float64)
        # Distances do not change when the mean is subtracted, but the Gram matrix loses
        # the large common term whose cancellation would cost digits.
        centred -= centred.mean(axis=1, keepdims=True)
        inner = np.matmul(centred, centred.transpose(0, 2, 1))

        longest = np.sqrt(np.einsum("bii->bi", inner).max(axis=1))
        inner[longest <= rounding(vectors[rows])] = 0.0
        out[rows] = inner
    return out


def centre(inner: np.ndarray) -> np.ndarray:
    """Return Gram matrices (B, N, N) about the mean of the vectors of each example, for
    those about any common point.
    """
    means = inner.mean(axis=2, keepdims=True)
    return inner - means - means.transpose(0, 2, 1) + means.mean(axis=1, keepdims=True)


def cosines(vectors: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors (B, N, d), float64, shape (B, N, N);
    those of a zero vector are 0.

    Equal cosines of vectors of whole numbers have equal bits.
    """
    products, exact = whole_products(vectors)

    # The square of the cosine is a fraction of exact whole numbers, which a division
    # rounds once: equal fractions have equal bits, where a product with 1 / |x| would
    # round each of them in another way.
    lengths = np.diagonal(products[exact], axis1=1, axis2=2)
    scale = lengths[:, :, None] * lengths[:, None, :]
    squares = products[exact] ** 2 / np.where(scale > 0, scale, 1.0)
    products[exact] = np.sign(products[exact]) * np.sqrt(squares)

    if not exact.all():
        unit = unit_vectors(vectors[~exact])
        products[~exact] = np.matmul(unit, unit.transpose(0, 2, 1))
    return products


def project_whole(vectors: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the inner products of vectors of whole numbers (T, d) with axes (d,
    L), float64, shape (T, L).

    Numbers other than 0 are few: their products are added one after the other, in an
    order that depends on the vector alone.
    """
    out = np.empty((len(vectors), axes.shape[1]))
    for row, vector in enumerate(vectors):
        used = np.flatnonzero(vector)
        out[row] = (vector[used, None].astype(np.float64) * axes[used]).sum(axis=0)
    return out


def rounding(vectors: np.ndarray) -> np.ndarray:
    """Return the length (B,) of differences within examples of vectors (B, N, d) that
    count as rounding errors.

    It is a few machine epsilons of the type of the vectors (float32 for most
    embeddings) times the length of the first vector. A model gives nearly, but not
    exactly, equal vectors to texts that it does not distinguish. If all texts of an
    example are such, statistics without a unit (the kernel of MMD) and p-values would
    be functions of the rounding errors.
    """
    first = vectors[:, 0].astype(np.float64)
    epsilon = np.finfo(np.result_type(vectors, np.float32)).eps
    return _EPSILONS * float(epsilon) * np.sqrt(np.einsum("bd,bd->b", first, first))


def squared_distances(inner: np.ndarray) -> np.ndarray:
    """Return squared Euclidean distances (B, N, N) for Gram matrices (B, N, N);
    exactly 0 for equal vectors.
    """
    norms = np.einsum("bii->bi", inner)
    scale = norms[:, :, None] + norms[:, None, :]
    squared = scale - 2.0 * inner
    # |x|^2 + |y|^2 - 2 <x, y> of equal vectors is a rounding error of either sign, and
    # its square root would be 1e-8, not 0.
    squared[squared <= _ROUNDING * scale] = 0.0
    return squared


def merge_close(distances: np.ndarray, precision: float = ties.FLOAT32) -> np.ndarray:
    """Return distances (B, ...) in which those of an example that differ by rounding
    errors are equal.

    In ascending order, a distance takes the value of the one before it if both differ
    by at most ``precision`` times the largest finite distance of the example (see
    :mod:`harness.stats.ties`).

    >>> merge_close(np.array([[1.0, 2.0, 1.0000001, 0.0]])).tolist()
    [[1.0, 2.0, 1.0, 0.0]]
    """
    flat = distances.reshape(len(distances), -1)
    tolerance = ties.tolerance(ties.magnitude(flat), precision)
    order = np.argsort(flat, axis=1, kind="stable")
    ranked = np.take_along_axis(flat, order, axis=1)

    # Runs of distances that are close to their neighbours take the first of the run.
    starts = np.ones(flat.shape, dtype=bool)
    # inf - inf: infinite distances are equal as they are
    with np.errstate(invalid="ignore"):
        starts[:, 1:] = ~(np.diff(ranked, axis=1) <= tolerance[:, None])
    first = np.maximum.accumulate(np.where(starts, np.arange(flat.shape[1]), 0), axis=1)

    out = np.empty_like(flat)
    np.put_along_axis(out, order, np.take_along_axis(ranked, first, axis=1), axis=1)
    return out.reshape(distances.shape)


def without_each(matrices: np.ndarray, n: int) -> np.ndarray:
    """Return matrices (B, N, N) without row and column i, for each of the first n texts
    i; shape (B, n, N - 1, N - 1).
    """
    smaller = [np.delete(np.delete(matrices, i, axis=1), i, axis=2) for i in range(n)]
    return np.stack(smaller, axis=1)


def upper(matrices: np.ndarray) -> np.ndarray:
    """Return the entries above the diagonal of matrices (B, N, N),
    shape (B, N(N-1)/2).
    """
    rows, columns = np.triu_indices(matrices.shape[-1], 1)
    return matrices[:, rows, columns]


def two_sample(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """Return mean k(C, C) + mean k(R, R) - 2 mean k(C, R), shape (B,), for kernels (B,
    N, N) with the n candidates first.

    See :func:`two_sample_form` for the estimators.
    """
    within_c, within_r = _pairs(kernel.shape[-1], n, estimator)
    if not within_c or not within_r:
        return np.full(len(kernel), np.nan)

    sum_c = kernel[:, :n, :n].sum(axis=(1, 2))
    sum_r = kernel[:, n:, n:].sum(axis=(1, 2))
    if estimator == "unbiased":
        diagonal = np.einsum("bii->bi", kernel)
        sum_c = sum_c - diagonal[:, :n].sum(axis=1)
        sum_r = sum_r - diagonal[:, n:].sum(axis=1)
    across = kernel[:, :n, n:].mean(axis=(1, 2))
    return sum_c / within_c + sum_r / within_r - 2.0 * across


def _pairs(size: int, n: int, estimator: str) -> tuple[int, int]:
    """Return the numbers of ordered pairs within the candidates and within the
    references that the estimator averages.
    """
    m = size - n
    if estimator == "biased":
        return n * n, m * m
    return n * (n - 1), m * (m - 1)


def two_sample_form(kernel: np.ndarray, n: int, estimator: str) -> np.ndarray:
    """Return forms (see :mod:`harness.stats.forms`) of mean k(C, C) + mean k(R,
    R) - 2 mean k(C, R).

    Uses s'Ks = sum of the row sums of the candidates - sum over pairs with different
    labels. The statistic does not change when a constant is added to the kernel. The
    forms are those of K - max K, which are exactly 0 for a constant kernel.

    Parameters
    ----------
    kernel : ndarray, shape (B, N, N)
        Symmetric kernel matrices.
    n : int
        Number of candidates.
    estimator : {'biased', 'unbiased'}
        ``biased`` includes the diagonals (V-statistic); ``unbiased`` excludes them and
        divides by n(n-1) and m(m-1).

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

    # The statistic does not change with a constant. After the shift a constant kernel
    # is exactly 0, so that texts that are not told apart have the statistic 0 under
    # every label, and not rounding errors that would make p-values.
    kernel = kernel - kernel.max(axis=(1, 2), keepdims=True)
    sums = kernel.sum(axis=2)
    if estimator == "unbiased":
        sums = sums - np.einsum("bii->bi", kernel)

    # With s the labels: s'Ks = sum_p s_p K_p - sum of K over pairs with s_p = 1 and s_q
    # = 0, where K_p is a row sum, and likewise for 1 - s. All three means are then sums
    # over pairs with different labels, which is what a form evaluates. The row sums
    # enter once for each of the m (or n) texts of the other sample.
    form = kernel * -(1 / within_c + 1 / within_r + 2 / (n * m))
    form += (sums / (within_c * m))[:, :, None]
    form += (sums / (within_r * n))[:, None, :]
    return form


def _blocks(batch: int, row_bytes: int) -> Iterator[slice]:
    step = max(1, CACHE_BYTES // row_bytes)
    return (slice(start, start + step) for start in range(0, batch, step))
