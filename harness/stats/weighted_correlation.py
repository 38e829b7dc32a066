"""Correlation coefficients under row weights, so that a cluster bootstrap needs no
resampled copies of the rows.

A weight is the number of times that a row occurs. Every class is prepared once from two
columns of n numbers and is called with weights of shape (W, n); ``ones((1, n))`` gives
the plain coefficient. An undefined coefficient is NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

CELLS = 1 << 22
"""Maximum number of weights that are processed at once."""
WeightedStatistic = Callable[[np.ndarray], np.ndarray]
"""Map from row weights (W, n) to values (W,)."""


def in_chunks(statistic: WeightedStatistic, weights: np.ndarray) -> np.ndarray:
    """Return ``statistic(weights)``, shape (W,), computed for at most :data:`CELLS`
    weights at a time.
    """
    step = max(1, CELLS // max(1, weights.shape[1]))
    values: list[np.ndarray] = []
    for start in range(0, len(weights), step):
        values.append(statistic(weights[start : start + step]))
    return np.concatenate(values)


class _Ties:
    """Groups of equal values of a column (n,)."""

    def __init__(self, values: np.ndarray) -> None:
        self.order = np.argsort(values, kind="stable")
        ordered = values[self.order]
        first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        self.starts = np.flatnonzero(first)
        self.group = np.empty(len(values), dtype=np.int64)
        """Number of the group of each row, in increasing order of the values,
        shape (n,).
        """
        self.group[self.order] = np.cumsum(first) - 1

    def weights(self, weights: np.ndarray) -> np.ndarray:
        """Return the sums of weights (W, n) in each group, shape (W, groups)."""
        return np.add.reduceat(weights[:, self.order], self.starts, axis=1)


class Kendall:
    """Kendall's tau-b or tau-c of two columns.

    tau-b = (C - D) / sqrt(pairs untied in x * pairs untied in y); tau-c = 2 (C - D) m /
    (N^2 (m - 1)) with the smaller number m of distinct values. Discordant pairs are the
    weighted inversions of y in the order of x, counted bit by bit of the dense ranks:
    O(n log k) per weight vector for k distinct values.

    Parameters
    ----------
    x, y : ndarray
        Columns, shape (n,), without NaN.
    variant : {"b", "c"}
        Correction for ties.

    References
    ----------
    Kendall, "The treatment of ties in ranking problems" (Biometrika 1945); Stuart, "The
    estimation and comparison of strengths of association in contingency tables"
    (Biometrika 1953).
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, variant: str = "b") -> None:
        self.variant = variant
        self._x = _Ties(x)
        self._y = _Ties(y)
        pairs = self._x.group * (int(self._y.group.max(initial=0)) + 1) + self._y.group
        self._both = _Ties(pairs)
        # By x, then y: pairs that are tied in x hold no inversion.
        self._order = self._both.order
        ranks = self._y.group[self._order]
        self._bits = [
            _bit(ranks, bit)
            for bit in range(int(ranks.max(initial=0)).bit_length() - 1, -1, -1)
        ]

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return tau for row weights (W, n), shape (W,)."""
        return in_chunks(self._values, np.asarray(weights, dtype=np.float64))

    def counts(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return C - D and twice the numbers of pairs untied in x and in y,
        each (W,), for row weights (W, n).
        """
        total = weights.sum(axis=1) ** 2
        tied_x, tied_y, tied_both = (
            np.square(ties.weights(weights)).sum(axis=1)
            for ties in (self._x, self._y, self._both)
        )
        # Pairs tied in neither, less twice the discordant ones.
        untied = (total - tied_x - tied_y + tied_both) / 2
        difference = untied - 2 * self._discordant(weights)
        return difference, total - tied_x, total - tied_y

    def _values(self, weights: np.ndarray) -> np.ndarray:
        difference, untied_x, untied_y = self.counts(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.variant == "b":
                tau = 2 * difference / np.sqrt(untied_x) / np.sqrt(untied_y)
            else:
                groups_x = self._x.weights(weights)
                groups_y = self._y.weights(weights)
                total = weights.sum(axis=1) ** 2
                # Values that no row with a weight has do not count.
                classes = np.minimum(
                    (groups_x > 0).sum(axis=1), (groups_y > 0).sum(axis=1)
                )
                scaled = 2 * difference * classes / (total * (classes - 1))
                tau = np.where(classes > 1, scaled, np.nan)
        return np.where(np.isfinite(tau), np.clip(tau, -1.0, 1.0), np.nan)

    def _discordant(self, weights: np.ndarray) -> np.ndarray:
        # Weighted inversions, bit by bit: a zero after ones of the same prefix.
        ordered = weights[:, self._order]
        out = np.zeros(len(weights))
        for order, start, ones in self._bits:
            part = ordered[:, order]
            cumulative = np.cumsum(part * ones, axis=1)
            cumulative = np.concatenate([np.zeros((len(part), 1)), cumulative], axis=1)
            zeros = np.flatnonzero(~ones)
            ones_before = cumulative[:, zeros] - cumulative[:, start[zeros]]
            out += (part[:, zeros] * ones_before).sum(axis=1)
        return out


def _bit(ranks: np.ndarray, bit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for one bit of ranks (n,): the order by the bits above it, the start of
    each row's block, and the bit's mask.
    """
    order = np.argsort(ranks >> (bit + 1), kind="stable")
    prefix = ranks[order] >> (bit + 1)
    starts = np.searchsorted(prefix, prefix, side="left")
    return order, starts, ((ranks[order] >> bit) & 1).astype(bool)


class Pearson:
    """Pearson's r of two columns (n,) without NaN."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        a = _scale_column(np.asarray(x, dtype=np.float64))
        b = _scale_column(np.asarray(y, dtype=np.float64))
        self._products = np.stack([a, b, a * a, b * b, a * b], axis=1)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return r for row weights (W, n), shape (W,)."""
        weights = np.asarray(weights, dtype=np.float64)
        return _r(weights.sum(axis=1), *(weights @ self._products).T)


def _scale_column(column: np.ndarray) -> np.ndarray:
    centred = column - column.mean()
    return centred / (np.abs(centred).max() or 1.0)


def _r(
    n: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    xx: np.ndarray,
    yy: np.ndarray,
    xy: np.ndarray,
) -> np.ndarray:
    """Return r from weighted sums, each of shape (W,); NaN where a column is constant,
    or no row has a weight.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        var_x = xx / n - (x / n) ** 2
        var_y = yy / n - (y / n) ** 2
        r = (xy / n - x * y / n**2) / np.sqrt(var_x) / np.sqrt(var_y)
        # Less is what rounding leaves of a constant column.
        constant = ~((var_x > 1e-14 * xx / n) & (var_y > 1e-14 * yy / n))
    return np.where(constant | ~np.isfinite(r), np.nan, np.clip(r, -1.0, 1.0))


class Spearman:
    """Spearman's rho of two columns (n,) without NaN: r of the mid-ranks that the
    weighted rows have.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._columns = _Ties(x), _Ties(y)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return rho for row weights (W, n), shape (W,)."""
        return in_chunks(self._values, np.asarray(weights, dtype=np.float64))

    def _values(self, weights: np.ndarray) -> np.ndarray:
        n = weights.sum(axis=1)
        a, b = (_mid_ranks(ties, weights, n) for ties in self._columns)
        sums = [(weights * part).sum(axis=1) for part in (a, b, a * a, b * b, a * b)]
        return _r(n, *sums)


def _mid_ranks(ties: _Ties, weights: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the mid-ranks of the rows, centred and divided by the number of rows,
    shape (W, n).
    """
    groups = ties.weights(weights)
    ranks = np.cumsum(groups, axis=1) - groups / 2
    with np.errstate(invalid="ignore"):  # a resample may leave out all rows
        return ((ranks - n[:, None] / 2) / n[:, None])[:, ties.group]


def within_groups(
    x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int
) -> np.ndarray:
    """Return tau-b of the rows of each group, shape (groups,).

    NaN where the group has fewer than two distinct values of y; 0 where y differs and x
    is constant.

    Parameters
    ----------
    x, y : ndarray
        Columns, shape (n,): x the scores, y the judgments.
    group : ndarray
        Group of each row, integers in [0, groups), shape (n,).
    groups : int
        Number of groups.
    """
    first, second = pairs_within(group)
    of = group[first]
    sign_x = np.sign(x[first] - x[second])
    sign_y = np.sign(y[first] - y[second])
    sums = [
        np.bincount(of, part, minlength=groups)
        for part in (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y))
    ]

    with np.errstate(invalid="ignore", divide="ignore"):
        tau = sums[0] / np.sqrt(sums[1] * sums[2])
    return np.where(sums[2] == 0, np.nan, np.where(sums[1] == 0, 0.0, tau))


def pairs_within(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of all pairs of rows of one group, two arrays of shape
    (pairs,), the earlier row first.

    >>> [part.tolist() for part in pairs_within(np.array([0, 1, 0, 0]))]
    [[0, 0, 2], [2, 3, 3]]
    """
    # Sorted by group, rows of one group are neighbours at some distance.
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    first: list[np.ndarray] = []
    second: list[np.ndarray] = []
    for shift in range(1, len(group)):
        same = np.flatnonzero(ordered[shift:] == ordered[:-shift])
        if len(same) == 0:
            break
        first.append(order[same])
        second.append(order[same + shift])

    if not first:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    a = np.concatenate(first)
    b = np.concatenate(second)
    by = np.lexsort((a, b))
    return a[by], b[by]


class Detection:
    """Detection of the rows with a positive label by high scores.

    Parameters
    ----------
    scores : ndarray
        Scores, shape (n,), without NaN; a higher score means that a positive label is
        more likely.
    positive : ndarray
        Labels, bool, shape (n,).
    measure : {"average_precision", "auc"}
        Average precision is the sum over thresholds of (recall gained) x (precision at
        the threshold), without interpolation. The area under the ROC curve is the share
        of (positive, negative) pairs in the right order, ties half.
    """

    def __init__(self, scores: np.ndarray, positive: np.ndarray, measure: str) -> None:
        self._order = np.argsort(-scores, kind="stable")
        ordered = scores[self._order]
        begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        self._starts = np.flatnonzero(begins)
        self._positive = positive[self._order].astype(np.float64)
        self._measure = measure

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return the measure for row weights (W, n), shape (W,), in [0, 1]; NaN without
        a positive or a negative row.
        """
        return in_chunks(self._values, np.asarray(weights, dtype=np.float64))

    def _values(self, weights: np.ndarray) -> np.ndarray:
        ordered = weights[:, self._order]
        positive = np.add.reduceat(ordered * self._positive, self._starts, axis=1)
        every = np.add.reduceat(ordered, self._starts, axis=1)
        hits = np.cumsum(positive, axis=1)
        seen = np.cumsum(every, axis=1)
        positives = hits[:, -1]
        negatives = seen[:, -1] - hits[:, -1]

        with np.errstate(invalid="ignore", divide="ignore"):
            if self._measure == "average_precision":
                precision = np.where(seen > 0, hits / seen, 0.0)
                value = (positive * precision).sum(axis=1) / positives
            else:
                misses = seen - hits
                below = negatives[:, None] - misses + (every - positive) / 2
                value = (positive * below).sum(axis=1) / (positives * negatives)
        return np.where((positives > 0) & (negatives > 0), value, np.nan)
