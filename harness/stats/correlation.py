"""Pearson, Spearman and Kendall correlation, for one pair of columns or for all pairs of two groups of columns.

Pearson's r is computed from centred columns (a column of 5.000 to 5.005 keeps its digits), its two-sided p-value from
the incomplete beta function. Kendall's tau is tau-b. Where a coefficient is undefined the result says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import InputError

_PAIRS = 1 << 18  # signs held at a time; float32 counts of so many pairs are exact
_SMALL = 2000  # rows up to which Kendall goes over all pairs, for all columns at once


@dataclass(frozen=True, slots=True)
class Correlation:
    """How two columns of n numbers go together; None where undefined, with the reason in ``note``."""

    n: int
    r: float | None
    r2: float | None
    p: float | None
    """Two-sided, of r = 0, for bivariate normal columns."""
    spearman: float | None
    kendall: float | None
    note: str = ""


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
        return self.r * self.r


def correlate(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> Correlation:
    """Correlation of two columns.

    A constant column gives None throughout, an infinite value None for r alone (ranks are fine), with a note. Raises
    :class:`InputError` for NaN, fewer than two rows, or columns of different length.

    >>> correlate([1, 2, 3, 4], [1, 3, 2, 4]).r2
    0.6400000000000001
    """
    columns = [np.asarray(values, dtype=np.float64) for values in (x, y)]
    if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
        raise InputError(f"columns of shape {columns[0].shape} and {columns[1].shape} cannot be correlated")
    table = correlate_columns(columns[0][:, None], columns[1][:, None])
    r, p, spearman, kendall = (float(a[0, 0]) for a in (table.r, table.p, table.spearman, table.kendall))
    notes = [f"{name} {problem}" for name, column in zip("xy", columns) if (problem := problem_of(column))]
    return Correlation(
        table.n, _known(r), _known(r * r), _known(p), _known(spearman), _known(kendall), "; ".join(notes)
    )


def correlate_columns(x: np.ndarray, y: np.ndarray) -> CorrelationTable:
    """All pairs of the columns of ``x`` (n, a) and ``y`` (n, b).

    Raises :class:`InputError` for NaN (naming row and column), fewer than two rows, or another number of rows.
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
    r = _products(_standard(x), _standard(y))
    ranks_x, ranks_y = _ranks(x), _ranks(y)
    spearman = _products(_standard(ranks_x), _standard(ranks_y))
    return CorrelationTable(len(x), r, pearson_p(r, len(x)), spearman, _kendall(ranks_x, ranks_y))


def problem_of(column: np.ndarray) -> str:
    """Why Pearson's r of a column is undefined: ``is constant``, ``holds inf``, or nothing.

    >>> problem_of(np.array([1.0, 1.0])), problem_of(np.array([1.0, np.inf])), problem_of(np.array([1.0, 2.0]))
    ('is constant', 'holds inf', '')
    """
    if len(column) and np.all(column == column[0]):
        return "is constant"
    return "" if np.isfinite(column).all() else "holds inf"


def pearson_p(r: np.ndarray, n: int) -> np.ndarray:
    """Two-sided p-values of Pearson's r of n rows: I_{1 - r^2}(n/2 - 1, 1/2); 1 for n = 2."""
    from scipy.special import betainc

    r = np.asarray(r, dtype=np.float64)
    if n <= 2:
        return np.where(np.isnan(r), np.nan, 1.0)
    return betainc(n / 2 - 1, 0.5, np.clip((1 - r) * (1 + r), 0, 1))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _standard(columns: np.ndarray) -> np.ndarray:
    """(n, a) centred columns of length 1; NaN for a column that is constant or not finite."""
    usable = np.isfinite(columns).all(axis=0) & (columns.max(axis=0) != columns.min(axis=0))
    out = np.full(columns.shape, np.nan)
    chosen = np.ascontiguousarray(
        columns[:, usable].T
    )  # a column is a row here: summed pairwise, as numpy does one column
    # Powers of two, so that no digit changes: large columns do not overflow, and tiny differences do not vanish, when squared.
    chosen = np.ldexp(chosen, -np.frexp(np.abs(chosen).max(axis=1, keepdims=True))[1])
    chosen = chosen - chosen.mean(axis=1, keepdims=True)
    chosen = np.ldexp(chosen, -np.frexp(np.abs(chosen).max(axis=1, keepdims=True))[1])
    out[:, usable] = (chosen / np.sqrt((chosen * chosen).sum(axis=1, keepdims=True))).T
    return out


def _products(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.clip(x.T @ y, -1.0, 1.0)


def _ranks(columns: np.ndarray) -> np.ndarray:
    """Average ranks from 1 within each column."""
    out = np.empty(columns.shape)
    for k in range(columns.shape[1]):
        _, inverse, counts = np.unique(columns[:, k], return_inverse=True, return_counts=True)
        out[:, k] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return out


def _kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(a, b) tau-b of ranks; NaN where a column is constant."""
    difference, pairs_x, pairs_y = _over_pairs(x, y) if len(x) <= _SMALL else _by_inversions(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(difference / np.sqrt(pairs_x)[:, None] / np.sqrt(pairs_y)[None, :], -1.0, 1.0)


def _over_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Concordant minus discordant pairs (a, b), and the untied pairs of each column, from the signs of all pairs."""
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
    """The same in O(n log n) a pair of columns: discordant pairs are the inversions of y once sorted by x, then y."""
    total = len(x) * (len(x) - 1) // 2
    ties_x, ties_y = ([_tied(ranks[:, k]) for k in range(ranks.shape[1])] for ranks in (x, y))
    difference = np.empty((x.shape[1], y.shape[1]))
    for a in range(x.shape[1]):
        for b in range(y.shape[1]):
            order = np.lexsort((y[:, b], x[:, a]))
            both = _tied(
                x[:, a] * (2 * len(x) + 2) + y[:, b]
            )  # ranks are multiples of 1/2: one number per pair of ranks
            discordant = inversions(y[order, b])
            difference[a, b] = total - ties_x[a] - ties_y[b] + both - 2 * discordant
    return difference, total - np.array(ties_x, dtype=float), total - np.array(ties_y, dtype=float)


def _tied(values: np.ndarray) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def inversions(values: np.ndarray) -> int:
    """Number of pairs i < j with values[i] > values[j], bit by bit of the dense ranks: O(n log n) array operations.

    >>> inversions(np.array([2, 3, 1, 1]))
    4
    """
    ranks = np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)
    total = 0
    for bit in range(int(ranks.max()).bit_length() - 1 if len(ranks) else -1, -1, -1):
        # Among values that agree above this bit (kept side by side, in order), count ones before zeros; then split them.
        order = np.argsort(ranks >> (bit + 1), kind="stable")
        prefix, ones = ranks[order] >> (bit + 1), (ranks[order] >> bit) & 1
        seen = np.cumsum(ones)
        start = np.searchsorted(prefix, prefix, side="left")
        before = seen - (seen[start] - ones[start])
        total += int(before[ones == 0].sum())
    return total
