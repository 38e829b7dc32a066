"""Tests between two metrics that were judged on the same data, and clusters of metrics
that no test separates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence

import numpy as np

ScoreStatistic = Callable[[np.ndarray], np.ndarray]
"""Map from score vectors (W, n) to the statistic of each with the judgments,
shape (W,).
"""
STOP_AFTER = 40
"""Number of draws at least as extreme as the observed difference after which drawing
ends.
"""
MOST_LEVELS = 32
"""Number of distinct judgments up to which :class:`KendallOfScores` is faster than a
sort of each score vector.
"""
CHUNK = 50
"""Number of draws evaluated in one call."""
EXCHANGE_TESTS = {
    "perm_input": "PERM-INPUT",
    "perm_both": "PERM-BOTH",
    "perm_sys": "PERM-SYS",
    "jackknife_input": "jackknife",
}
"""Key of the test of the headline in results -> its name: exchange of items, of
captions, of systems; jackknife over items.
"""
MOST_SKIPPED = 0.05
"""Share of the rows without a score up to which a metric is ranked: beyond it, its
value is that of other rows.
"""


def exchange_test(results: Container[str]) -> str:
    """Return the key of the test of the headline that the results of a pair of metrics
    have.

    >>> exchange_test({"perm_both": 0.2, "perm_both_holm": 0.4})
    'perm_both'
    """
    return next((name for name in EXCHANGE_TESTS if name in results), "perm_input")


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> tuple[float, float]:
    """Return Williams' test of two dependent Pearson correlations that share the
    judgments.

    Parameters
    ----------
    r_a, r_b : float
        Correlation of each metric with the judgments.
    r_ab : float
        Correlation of the metrics with each other.
    n : int
        Number of rows.

    Returns
    -------
    tuple
        Student's t with n - 3 degrees of freedom, positive where metric a has the
        larger correlation, and the two-sided p-value. NaN for fewer than four rows or
        an undefined correlation; p = 1 where both metrics give the same ranking values.

    References
    ----------
    Williams, "Regression Analysis" (1959); Steiger, "Tests for comparing elements of a
    correlation matrix" (1980), equation 7; Graham and Baldwin, "Testing for
    significance of increased correlation with human judgment" (EMNLP 2014).

    Examples
    --------
    >>> t, p = williams(0.4, 0.5, 0.1, 103)
    >>> round(t, 2), round(p, 2)
    (-0.89, 0.37)
    """
    from scipy.special import betainc  # pyright: ignore[reportMissingTypeStubs]

    if n < 4 or any(math.isnan(r) for r in (r_a, r_b, r_ab)):
        return math.nan, math.nan
    difference = r_a - r_b
    if abs(difference) < 1e-14:
        return 0.0, 1.0
    # Determinant of the correlations of both metrics and the judgments.
    determinant = max(0.0, 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab)
    mean = (r_a + r_b) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_ab) ** 3
    if variance <= 0:
        return math.copysign(math.inf, difference), 0.0
    t = difference * math.sqrt((n - 1) * (1 + r_ab) / variance)
    degrees = n - 3
    return t, float(betainc(degrees / 2, 0.5, degrees / (degrees + t * t)))


def permute_scores(
    statistic: ScoreStatistic,
    a: np.ndarray,
    b: np.ndarray,
    *,
    unit: np.ndarray | None = None,
    draws: int = 1000,
    seed: int = 0,
    standardised: bool = False,
) -> float:
    """Return the two-sided p-value of an exchange test of the difference
    ``statistic(a) - statistic(b)``; NaN where undefined.

    The scores are standardised, and the two scores of all rows of a unit are exchanged
    at random: units that are items make the test PERM-INPUT, captions PERM-BOTH,
    systems PERM-SYS. Drawing ends early when the result is clear (sequential Monte
    Carlo p-value).

    Parameters
    ----------
    statistic : callable
        Map from score vectors (W, n) to values (W,).
    a, b : ndarray
        Scores of two metrics on the same rows, shape (n,), higher is better, without
        NaN.
    unit : ndarray, optional
        Unit of each row, integers, shape (n,): the rows of a unit are exchanged
        together. Default: every row is a unit.
    draws : int
        Maximum number of random exchanges.
    seed : int
        Seed of the exchanges.
    standardised : bool
        The scores have a common scale already.

    References
    ----------
    Deutsch, Dror and Roth, "A statistical analysis of summarization evaluation metrics
    using resampling methods" (TACL 2021), section 4.2; Besag and Clifford, "Sequential
    Monte Carlo p-values" (Biometrika 1991).
    """
    if not standardised:
        a = _standardise(a)
        b = _standardise(b)
    values = statistic(np.stack([a, b]))
    observed = abs(float(values[0] - values[1]))
    if math.isnan(observed):
        return math.nan

    if unit is None:
        of_unit = np.arange(len(a))
    else:
        of_unit = np.unique(unit, return_inverse=True)[1]
    units = int(of_unit.max()) + 1
    rng = np.random.default_rng([seed, units])
    extreme = drawn = 0
    while drawn < draws and extreme < STOP_AFTER:
        rows = min(CHUNK, draws - drawn)
        keep = rng.integers(0, 2, size=(rows, units)).astype(bool)[:, of_unit]
        # One call for both sides: statistics cost less for many vectors.
        both = statistic(np.concatenate([np.where(keep, a, b), np.where(keep, b, a)]))
        shift = np.abs(both[: len(keep)] - both[len(keep) :])
        # Exchanges that give the observed difference but for rounding count.
        extreme += int(np.sum(shift >= observed - 1e-12 * max(observed, 1.0)))
        drawn += len(keep)
    return (1 + extreme) / (1 + drawn)


def permute_credit(
    a: np.ndarray,
    b: np.ndarray,
    cluster: np.ndarray,
    *,
    draws: int = 1000,
    seed: int = 0,
) -> float:
    """Return the two-sided p-value of an exchange test of the difference of two mean
    credits, both scores of a pair exchanged at once.

    The pairs of a cluster are exchanged together: judgments on one item depend on each
    other.

    Parameters
    ----------
    a, b : ndarray
        Credits of two metrics for the same pairs (or their coefficients of the same
        items), shape (P,); those with NaN in one of them are left out.
    cluster : ndarray
        Cluster of each pair, such as its item, integers, shape (P,).
    draws, seed : int
        Number and seed of the random exchanges.
    """
    usable = ~(np.isnan(a) | np.isnan(b))
    if not usable.any():
        return math.nan
    # Pairs of a cluster change sign together, so that its sum is enough.
    sums = np.bincount(cluster[usable], (a - b)[usable])
    observed = abs(float(sums.sum())) - 1e-9

    rng = np.random.default_rng([seed, len(sums)])
    extreme = 0
    for start in range(0, draws, CHUNK):
        signs = 1 - 2 * rng.integers(0, 2, size=(min(CHUNK, draws - start), len(sums)))
        extreme += int(np.sum(np.abs(signs @ sums) >= observed))
    return (1 + extreme) / (1 + draws)


def _standardise(scores: np.ndarray) -> np.ndarray:
    centred = np.asarray(scores - scores.mean(), dtype=np.float64)
    scale = float(np.linalg.norm(centred)) / len(centred) ** 0.5
    return centred / (scale or 1.0)


def clusters(
    values: Sequence[float], p_values: np.ndarray, level: float = 0.05
) -> list[int | None]:
    """Return the rank of each metric's significance cluster: 1 for the best; None where
    the value is NaN.

    Metrics are visited from the best to the worst. A metric that is significantly worse
    than a member of the present cluster begins the next one.

    Parameters
    ----------
    values : sequence of float
        Statistic of each metric, higher is better, length k.
    p_values : ndarray
        Corrected p-values between metrics, shape (k, k), symmetric; NaN counts as not
        significant.
    level : float
        Level of significance.

    Examples
    --------
    >>> p = np.array([[1, 0.2, 0.01], [0.2, 1, 0.3], [0.01, 0.3, 1]])
    >>> clusters([0.5, 0.4, 0.3], p)
    [1, 1, 2]
    """
    order = sorted(
        (k for k, value in enumerate(values) if not math.isnan(value)),
        key=lambda k: -values[k],
    )

    ranks: list[int | None] = [None] * len(values)
    members: list[int] = []
    rank = 1
    for k in order:
        if any(p_values[k, other] <= level for other in members):
            rank = rank + 1
            members = []
        members.append(k)
        ranks[k] = rank
    return ranks


class KendallOfScores:
    """Kendall's tau of many score vectors with the same judgments, by a table of their
    levels.


    Parameters
    ----------
    judgments : ndarray
        Judgments, shape (n,), without NaN.
    variant : {"b", "c"}
        Correction for ties.
    unit : ndarray, optional
        Caption of each row, integers, shape (n,): rows of one caption (its ratings)
        have one score. Default: every row is a caption.
    """

    def __init__(
        self, judgments: np.ndarray, variant: str = "b", unit: np.ndarray | None = None
    ) -> None:
        levels, rank, counts = np.unique(
            judgments, return_inverse=True, return_counts=True
        )
        self._variant = variant
        self._levels = len(levels)
        self._n = len(judgments)
        self._untied = len(judgments) ** 2 - int((counts.astype(np.int64) ** 2).sum())

        rows = np.arange(len(judgments)) if unit is None else unit
        _, self._first, of_unit = np.unique(
            rows, return_index=True, return_inverse=True
        )
        # Number of ratings of each level that each caption has.
        cells = np.bincount(
            of_unit * self._levels + rank, minlength=len(self._first) * self._levels
        )
        self._table = cells.reshape(len(self._first), self._levels)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return tau for scores (W, n), shape (W,); NaN where undefined."""
        return np.array([self._one(row) for row in scores[:, self._first]])

    def _one(self, scores: np.ndarray) -> float:
        """Return tau of one score per caption, shape (captions,)."""
        order = np.argsort(scores)
        ordered = scores[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        # Ratings of each level in each group of tied scores.
        table = self._table[order]
        if len(starts) < len(order):
            table = np.add.reduceat(table, starts, axis=0)

        # The same in all groups below it.
        below = np.cumsum(table, axis=0) - table
        up_to = np.cumsum(below, axis=1)
        difference = 2 * int((table * (2 * up_to - below - up_to[:, -1:])).sum())

        n = self._n
        if self._variant == "b":
            sizes = table.sum(axis=1)
            scale = math.sqrt(n * n - int((sizes**2).sum())) * math.sqrt(self._untied)
            return difference / scale if scale else math.nan
        classes = min(len(starts), self._levels)
        if classes <= 1:
            return math.nan
        return difference * classes / (n * n * (classes - 1))
