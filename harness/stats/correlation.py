"""Pearson, Spearman and Kendall correlation of all pairs of two groups of columns.

Pearson's r is computed from centred columns, so that columns with a large mean and a small spread lose no digits; its two-sided
p-value comes from the incomplete beta function. Kendall's tau is tau-b. An undefined coefficient is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.errors import InputError

_PAIRS = 1 << 18
"""Maximum number of row pairs per block; sums of that many signs are exact in float32."""
_SMALL = 2000
"""Maximum number of rows for which Kendall's tau is counted over all pairs of rows, for all columns at once."""


@dataclass(frozen=True, eq=False)
class CorrelationTable:
    """Coefficients of every x column with every y column, each (a, b) float64, NaN where undefined."""

    n: int
    r: np.ndarray
    p: np.ndarray
    spearman: np.ndarray
    kendall: np.ndarray

    @property
    def r2(self) -> np.ndarray:
        """Squares of Pearson's r, shape (a, b)."""
        return self.r * self.r


def correlate_columns(x: np.ndarray, y: np.ndarray) -> CorrelationTable:
    """Return the correlations of all pairs of columns of ``x`` (n, a) and ``y`` (n, b), coefficients of shape (a, b).

    Raises :class:`InputError` for NaN (with row and column), fewer than two rows, or tables with different numbers of rows.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise InputError(f"tables of shape {x.shape} and {y.shape} cannot be correlated")
    if len(x) < 2:
        raise InputError(f"a correlation needs at least two rows; found {len(x)}")
    for name, table in (("x", x), ("y", y)):
        if np.isnan(table).any():
            row, column = (int(k) for k in np.argwhere(np.isnan(table))[0])
            raise InputError(f"{name} holds NaN in row {row} of column {column}")
    r = _products(_standardise(x), _standardise(y))
    ranks_x, ranks_y = average_ranks(x), average_ranks(y)
    spearman = _products(_standardise(ranks_x), _standardise(ranks_y))
    return CorrelationTable(len(x), r, pearson_p(r, len(x)), spearman, _kendall(ranks_x, ranks_y))


def problem_of(column: np.ndarray) -> str:
    """Return the reason why Pearson's r of a column of shape (n,) is undefined: ``is constant``, ``holds inf``, or an empty text.

    >>> problem_of(np.array([1.0, 1.0])), problem_of(np.array([1.0, np.inf])), problem_of(np.array([1.0, 2.0]))
    ('is constant', 'holds inf', '')
    """
    if len(column) and np.all(column == column[0]):
        return "is constant"
    return "" if np.isfinite(column).all() else "holds inf"


def pearson_p(r: np.ndarray, n: int) -> np.ndarray:
    """Return two-sided p-values of Pearson's r, in the shape of ``r``, such as (a, b), for n rows; 1 for n = 2.

    The p-value is the regularised incomplete beta function I_{1 - r^2}(n/2 - 1, 1/2), which equals Student's t test with n - 2
    degrees of freedom.
    """
    from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

    r = np.asarray(r, dtype=np.float64)
    if n <= 2:
        return np.where(np.isnan(r), np.nan, 1.0)
    return betainc(n / 2 - 1, 0.5, np.clip((1 - r) * (1 + r), 0, 1))


def _standardise(columns: np.ndarray) -> np.ndarray:
    """Return centred columns of unit length, shape (n, a); NaN for a column that is constant or not finite."""
    usable = np.isfinite(columns).all(axis=0) & (columns.max(axis=0) != columns.min(axis=0))
    out = np.full(columns.shape, np.nan)
    # Columns become contiguous rows: numpy then sums each pairwise, as it sums a single column.
    rows = np.ascontiguousarray(columns[:, usable].T)
    # Scaling by powers of two is exact; it avoids overflow of large values and underflow of small differences when squared.
    rows = np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows = np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])
    out[:, usable] = (rows / np.sqrt((rows * rows).sum(axis=1, keepdims=True))).T
    return out


def _products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.clip(x.T @ y, -1.0, 1.0)


def average_ranks(columns: np.ndarray) -> np.ndarray:
    """Return average ranks from 1 within each column, shape (n, a)."""
    out = np.empty(columns.shape)
    for k in range(columns.shape[1]):
        _, inverse, counts = np.unique(columns[:, k], return_inverse=True, return_counts=True)
        out[:, k] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return out


def _kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return tau-b of ranks (n, a) and (n, b), shape (a, b); NaN where a column is constant."""
    difference, pairs_x, pairs_y = _over_pairs(x, y) if len(x) <= _SMALL else _by_inversions(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(difference / np.sqrt(pairs_x)[:, None] / np.sqrt(pairs_y)[None, :], -1.0, 1.0)


def _over_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return concordant minus discordant pairs (a, b) and the untied pairs of each column (a,) and (b,), by all pairs of rows."""
    first, second = np.triu_indices(len(x), 1)
    difference = np.zeros((x.shape[1], y.shape[1]))
    pairs_x, pairs_y = np.zeros(x.shape[1]), np.zeros(y.shape[1])
    step = max(1, min(_PAIRS, (1 << 24) // max(1, x.shape[1] + y.shape[1])))
    for start in range(0, len(first), step):
        i, j = first[start : start + step], second[start : start + step]
        signs_x, signs_y = (np.sign(ranks[i] - ranks[j]).astype(np.float32) for ranks in (x, y))
        difference += signs_x.T @ signs_y
        pairs_x += np.count_nonzero(signs_x, axis=0)
        pairs_y += np.count_nonzero(signs_y, axis=0)
    return difference, pairs_x, pairs_y


def _by_inversions(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the counts of :func:`_over_pairs` in O(n log n) per pair of columns.

    Discordant pairs are the inversions of y after sorting by x, then y.
    """
    total = len(x) * (len(x) - 1) // 2
    ties_x, ties_y = ([_count_ties(ranks[:, k]) for k in range(ranks.shape[1])] for ranks in (x, y))
    difference = np.empty((x.shape[1], y.shape[1]))
    for a in range(x.shape[1]):
        for b in range(y.shape[1]):
            order = np.lexsort((y[:, b], x[:, a]))
            # Ranks are multiples of 1/2: this combination is a different number for each pair of ranks.
            both = _count_ties(x[:, a] * (2 * len(x) + 2) + y[:, b])
            discordant = inversions(y[order, b])
            difference[a, b] = total - ties_x[a] - ties_y[b] + both - 2 * discordant
    return difference, total - np.array(ties_x, dtype=float), total - np.array(ties_y, dtype=float)


def _count_ties(values: np.ndarray) -> int:
    """Return the number of pairs with equal values (n,)."""
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def inversions(values: np.ndarray) -> int:
    """Return the number of pairs i < j with values[i] > values[j], for values of shape (n,).

    Counted bit by bit of the dense ranks, O(n log n) array operations.

    >>> inversions(np.array([2, 3, 1, 1]))
    4
    """
    ranks = np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)
    total = 0
    for bit in range(int(ranks.max()).bit_length() - 1 if len(ranks) else -1, -1, -1):
        # Values that agree above this bit are adjacent, in their order: count the ones before each zero.
        order = np.argsort(ranks >> (bit + 1), kind="stable")
        prefix, ones = ranks[order] >> (bit + 1), (ranks[order] >> bit) & 1
        total_ones = np.cumsum(ones)
        start = np.searchsorted(prefix, prefix, side="left")
        before = total_ones - (total_ones[start] - ones[start])
        total += int(before[ones == 0].sum())
    return total
