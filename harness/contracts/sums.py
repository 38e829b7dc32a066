"""Weighted sums of columns with digits that depend on the numbers alone, not on how a
processor adds them.
"""

from __future__ import annotations

import numpy as np

DIGITS = 53
"""Binary digits of a float64."""
PRODUCT = 1 << 18
"""Most multiplications of a product: BLAS begins threads above it, which cost more than
they save.
"""
TILE = 64
"""Most rows and columns of a product."""
LARGEST_MEAN = 8
"""The absolute weights of a row may sum to this many times the number of examples."""


def weighted_sums(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``weights @ columns``, float64, shape (W, K),
    with equal digits on every processor.

    A matrix product of BLAS adds in an order that depends on the processor, on the
    number of threads, and on the columns that are multiplied together. Here each column
    is split into two addends, multiples of a power of two that is large enough for
    every weighted sum of them to be exact. Exact sums have one value in any order, and
    the result is their sum, rounded once.

    Parameters
    ----------
    weights : ndarray
        Whole numbers, shape (W, B): bootstrap counts, ones and zeros, or signs. The
        absolute values of a row sum to at most :data:`LARGEST_MEAN` times B.
    columns : ndarray
        Shape (B, K). Parts of a value below 2^-57 times the largest of its column (for
        B up to 10^6) are left out.

    References
    ----------
    Rump, Ogita & Oishi (2008), *Accurate Floating-Point Summation Part I*, SIAM J. Sci.
    Comput. 31(1): extraction of leading parts; Demmel & Nguyen (2013), *Fast
    Reproducible Floating-Point Summation*, ARITH 21.

    Examples
    --------
    >>> weighted_sums(np.array([[1.0, 1.0, 1.0]]), np.array([[1e16], [1.0], [-1e16]]))
    array([[1.]])
    """
    return SplitColumns(columns).weighted_sums(weights)


def weighted_means(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the weighted means (W,) of values (B,) under weights (W, B) as of
    :func:`weighted_sums`; NaN where all weights are 0.
    """
    with np.errstate(invalid="ignore"):
        return weighted_sums(weights, values[:, None])[:, 0] / weights.sum(axis=1)


class SplitColumns:
    """Columns (B, K) split once for the weighted sums of several blocks of weights, as
    of :func:`weighted_sums`.
    """

    def __init__(self, columns: np.ndarray) -> None:
        columns = np.asarray(columns, dtype=np.float64)
        self.width = columns.shape[1]
        self.finite = np.asarray(np.isfinite(columns).all(axis=0))
        self.undefined = columns[:, ~self.finite]

        # With |x| < 2^e and row sums of weights below 2^s, multiples of 2^(e + s - 53)
        # have sums of at most 53 digits.
        _, growth = np.frexp(float(LARGEST_MEAN * max(1, len(columns))))
        leading, rest = _split(columns[:, self.finite], int(growth))
        trailing, _ = _split(rest, int(growth))

        # Counts and other whole numbers have no trailing addend.
        self.fractional = np.asarray(trailing.any(axis=0))
        # One product of twice the width is faster than two.
        self.addends = np.concatenate([leading, trailing[:, self.fractional]], axis=1)

    def weighted_sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the sums for weights (W, B), shape (W, K); columns with NaN or
        infinities have such sums in any order.
        """
        sums = np.empty((len(weights), self.width))
        products = _product(np.asarray(weights), self.addends)
        leading = products[:, : len(self.fractional)]
        leading[:, self.fractional] += products[:, len(self.fractional) :]
        sums[:, self.finite] = leading

        if self.undefined.shape[1]:
            with np.errstate(invalid="ignore"):
                plain = np.asarray(weights, dtype=np.float64) @ self.undefined
            sums[:, ~self.finite] = plain
        return sums


def _product(weights: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return ``weights @ columns``, float64, where all sums are exact: they are added
    up from small products.
    """
    sums = np.zeros((len(weights), columns.shape[1]))
    height = PRODUCT // (TILE * max(1, min(TILE, columns.shape[1])))
    for row in range(0, len(weights), TILE):
        rows = np.asarray(weights[row : row + TILE], dtype=np.float64)
        for column in range(0, columns.shape[1], TILE):
            total = sums[row : row + TILE, column : column + TILE]
            for example in range(0, len(columns), height):
                block = slice(example, example + height)
                total += rows[:, block] @ columns[block, column : column + TILE]
    return sums


def _split(columns: np.ndarray, growth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns (B, K) rounded so that sums of 2^growth of their values are exact,
    and the exact rest.
    """
    _, exponent = np.frexp(np.abs(columns).max(axis=0, initial=0.0))
    # Numbers cannot be finer than 2^-1074: the unit stays above it, where all sums are
    # exact anyway.
    unit = np.ldexp(1.0, np.maximum(exponent + growth - DIGITS, -1074))
    leading = np.rint(columns / unit) * unit
    return leading, columns - leading
