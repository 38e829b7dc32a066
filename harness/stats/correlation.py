"""Pearson, Spearman and Kendall correlation of all pairs of two groups of columns.

Pearson's r is computed from centred columns, so that columns with a large mean and a
small spread lose no digits; its two-sided p-value comes from the incomplete beta
function. Kendall's tau is tau-b. An undefined coefficient is NaN.

Agreement of a metric with people on systems is their correlation, pairwise accuracy, or
soft pairwise accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.errors import InputError
from harness.stats.weighted_correlation import Kendall

SIGN_PATTERNS = 100_000
"""Number of sign patterns of a printed value, whose standard deviation over seeds is
about .0003.
"""


@dataclass(frozen=True, eq=False)
class CorrelationTable:
    """Coefficients of every x column with every y column, each (a, b) float64,
    NaN where undefined.
    """

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
    """Return the correlations of all pairs of columns of ``x`` (n, a) and ``y`` (n, b),
    coefficients of shape (a, b).

    Raises :class:`InputError` for NaN (with row and column), fewer than two rows, or
    tables with different numbers of rows.
    """
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise InputError(
            f"tables of shape {x.shape} and {y.shape} cannot be correlated"
        )
    if len(x) < 2:
        raise InputError(f"a correlation needs at least two rows; found {len(x)}")
    for name, table in (("x", x), ("y", y)):
        if np.isnan(table).any():
            row, column = (int(k) for k in np.argwhere(np.isnan(table))[0])
            raise InputError(f"{name} holds NaN in row {row} of column {column}")

    r = _products(_standardise(x), _standardise(y))
    ranks_x = average_ranks(x)
    ranks_y = average_ranks(y)
    spearman = _products(_standardise(ranks_x), _standardise(ranks_y))
    p = pearson_p(r, len(x))
    return CorrelationTable(len(x), r, p, spearman, _kendall(ranks_x, ranks_y))


def problem_of(column: np.ndarray) -> str:
    """Return the reason why Pearson's r of a column of shape (n,) is undefined:
    ``is constant``, ``holds inf``, or an empty text.

    >>> (
    ...     problem_of(np.array([1.0, 1.0])),
    ...     problem_of(np.array([1.0, np.inf])),
    ...     problem_of(np.array([1.0, 2.0])),
    ... )
    ('is constant', 'holds inf', '')
    """
    if len(column) and np.all(column == column[0]):
        return "is constant"
    return "" if np.isfinite(column).all() else "holds inf"


def pearson_p(r: np.ndarray, n: int) -> np.ndarray:
    """Return two-sided p-values of Pearson's r, in the shape of ``r``, such as (a,
    b), for n rows; 1 for n = 2.

    The p-value is the regularised incomplete beta function I_{1 - r^2}(n/2 - 1, 1/2),
    which equals Student's t test with n - 2 degrees of freedom.
    """
    from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

    r = np.asarray(r, dtype=np.float64)
    if n <= 2:
        return np.where(np.isnan(r), np.nan, 1.0)
    return betainc(n / 2 - 1, 0.5, np.clip((1 - r) * (1 + r), 0, 1))


def _standardise(columns: np.ndarray) -> np.ndarray:
    """Return centred columns of unit length, shape (n, a); NaN for a column that is
    constant or not finite.
    """
    is_finite = np.isfinite(columns).all(axis=0)
    usable = is_finite & (columns.max(axis=0) != columns.min(axis=0))
    out = np.full(columns.shape, np.nan)
    # Columns become contiguous rows: numpy then sums each pairwise, as it sums a single
    # column.
    rows = np.ascontiguousarray(columns[:, usable].T)
    # Scaling by powers of two is exact; it avoids overflow of large values and
    # underflow of small differences when squared.
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
        _, inverse, counts = np.unique(
            columns[:, k], return_inverse=True, return_counts=True
        )
        out[:, k] = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return out


def _kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return tau-b of ranks (n, a) and (n, b), shape (a, b);
    NaN where a column is constant.
    """
    ones = np.ones((1, len(x)))
    counts = np.array(
        [[Kendall(first, second).counts(ones) for second in y.T] for first in x.T]
    )[..., 0]
    difference, untied_x, untied_y = np.moveaxis(counts, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = difference / np.sqrt(untied_x / 2) / np.sqrt(untied_y / 2)
    return np.clip(tau, -1.0, 1.0)


def across_systems(
    human: np.ndarray, metric: np.ndarray, statistic: str, *, tolerance: float = 0.0
) -> np.ndarray:
    """Return the agreement of two sets of system values under each weight vector, shape
    (W,); NaN where undefined.

    Parameters
    ----------
    human, metric : ndarray
        Values of S systems under W weight vectors, shape (W, S), higher is better.
    statistic : {"pearson", "spearman", "kendall", "accuracy"}
        ``kendall`` is tau-b; ``accuracy`` is the share of the pairs of systems that
        both order alike (a tie of the metric counts half, pairs with a human tie are
        left out).
    tolerance : float
        Values of the metric that differ by at most this share of the larger one are
        ties.
    """
    if statistic == "spearman":
        human = _ranks(human, 0.0)
        metric = _ranks(metric, tolerance)
    if statistic in ("pearson", "spearman"):
        return _pearson_of_rows(human, metric)

    i, j = np.triu_indices(human.shape[1], 1)
    sign_h = np.sign(human[:, i] - human[:, j])
    sign_m = _signs(metric[:, i], metric[:, j], tolerance)
    defined = ~np.isnan(metric).any(axis=1) & ~np.isnan(human).any(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if statistic == "kendall":
            value = (
                (sign_h * sign_m).sum(axis=1)
                / np.sqrt((sign_h**2).sum(axis=1))
                / np.sqrt((sign_m**2).sum(axis=1))
            )
        else:
            is_ordered = sign_h != 0
            credit = np.where(is_ordered, (1 + sign_h * sign_m) / 2, 0.0)
            value = credit.sum(axis=1) / is_ordered.sum(axis=1)
    return np.where(defined, value, np.nan)


def _pearson_of_rows(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return Pearson's r of each row of two arrays (W, S), shape (W,)."""
    a, b = (values - values.mean(axis=1, keepdims=True) for values in (human, metric))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (
            (a * b).sum(axis=1)
            / np.sqrt((a * a).sum(axis=1))
            / np.sqrt((b * b).sum(axis=1))
        )
    return np.where(np.isfinite(r), np.clip(r, -1.0, 1.0), np.nan)


def _signs(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the signs of ``a - b``, 0 where they differ by at most a share of the
    larger one; NaN where one of them is.
    """
    difference = a - b
    return np.where(
        np.abs(difference) <= tolerance * np.maximum(np.abs(a), np.abs(b)),
        0.0,
        np.sign(difference),
    )


def _ranks(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Return mid-ranks from 1 within each row, shape (W, S); NaN in a row that holds
    NaN.
    """
    signs = _signs(values[:, :, None], values[:, None, :], tolerance)
    below = (signs > 0).sum(axis=2)
    equal = (signs == 0).sum(axis=2)
    ranks = below + (equal + 1) / 2
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, ranks)


class SoftPairwiseAccuracy:
    """Soft pairwise accuracy: one minus the mean difference of the one-sided p-values
    of people and of the metric.

    For each pair of systems the p-value is the share of random sign patterns of the
    items' differences whose mean is at least the observed one; people and metric get
    the same patterns.

    Parameters
    ----------
    human, metric : ndarray
        Differences of K pairs of systems on I items (:func:`pairwise_differences`),
        shape (K, I), NaN where an item does not compare the pair; a pair is compared on
        the items of both arrays.
    draws : int
        Number of sign patterns of many weight vectors. Of one alone it is
        :data:`SIGN_PATTERNS`.
    seed : int
        Seed of the patterns.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah, "Improving Statistical Significance in
    Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy" (WMT 2024).
    """

    def __init__(
        self, human: np.ndarray, metric: np.ndarray, draws: int = 1000, seed: int = 0
    ) -> None:
        usable = ~(np.isnan(human) | np.isnan(metric))
        defined = usable.any(axis=1)
        self._both = [
            np.where(usable, values, 0.0)[defined] for values in (human, metric)
        ]
        self._draws = draws
        self._seed = seed

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return the accuracy for item weights (W, I), shape (W,), in [0, 1]; NaN when
        no pair has an item in common.
        """
        weights = np.asarray(weights, dtype=np.float64)
        pairs, items = self._both[0].shape
        if not pairs:
            return np.full(len(weights), np.nan)

        rng = np.random.default_rng([self._seed, items])
        excess = np.zeros((pairs, len(weights)))
        # One number is printed: it may cost more draws than each of many resamples.
        draws = self._draws if len(weights) > 1 else SIGN_PATTERNS
        for start in range(0, draws, self._draws):
            rows = min(self._draws, draws - start)
            bits = rng.integers(0, 2, size=(rows, items))
            signs = (1 - 2 * bits).astype(np.float64)
            for k, (human, metric) in enumerate(zip(*self._both)):
                of_people = _count_extreme(weights * human, signs)
                excess[k] += of_people - _count_extreme(weights * metric, signs)
        return 1 - np.abs(excess / draws).mean(axis=0)


def pairwise_differences(values: np.ndarray) -> np.ndarray:
    """Return the differences of all pairs of systems, shape (S (S - 1) / 2, I),
    of values (S, I).
    """
    i, j = np.triu_indices(len(values), 1)
    return values[i] - values[j]


def _count_extreme(differences: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the number of sign patterns (D, I) under which the sum of differences (W,
    I) is at least the observed one, shape (W,).
    """
    observed = differences.sum(axis=1)
    # Patterns whose sum is the observed one but for rounding count too.
    slack = 1e-12 * np.abs(differences).sum(axis=1)
    sums = differences @ signs.T
    return np.count_nonzero(sums >= (observed - slack)[:, None], axis=1)
