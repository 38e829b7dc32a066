"""Paired tests of a corpus statistic of two systems on the same examples: bootstrap and
approximate randomisation.

Both tests look at the difference of the number that a table reports, computed from
sufficient statistics by the metric's own ``reduce``; per-example means are not used.
The weight vectors come from one :class:`~harness.stats.draws.DrawFamily`.

References
----------
Koehn, "Statistical significance tests for machine translation evaluation" (EMNLP 2004);
Riezler and Maxwell, "On some pitfalls in automatic evaluation and significance testing
for MT" (2005): shifted bootstrap, approximate randomisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.contracts import LeftOut, Statistics, join_statistics
from harness.stats import bootstrap, jackknife, ties
from harness.stats.bootstrap import expand_weights
from harness.stats.draws import DrawFamily

Reduce = Callable[[Any, np.ndarray], np.ndarray]
"""``reduce(stats, weights)``: statistics of R examples and weights (W, R) to values
(W,).
"""
OfSums = Callable[[np.ndarray], np.ndarray]
"""Sums (..., k) of addends to values (...)."""

GROUPS = 100
"""Maximum number of groups of examples of a jackknife."""


@dataclass(frozen=True)
class ResampledDifference:
    """Difference A minus B of a corpus statistic, with its interval and two tests."""

    a: float
    """Value of system A on the shared examples."""
    b: float
    """Value of system B on the shared examples."""
    difference: float
    """A minus B; 0 where the values are equal up to rounding
    (:mod:`harness.stats.ties`).
    """
    ci95: tuple[float, float] | None
    """Paired interval of the difference: bootstrap
    (:func:`harness.stats.bootstrap.interval_of_draws`), or the jackknife where examples
    must not be repeated; None without examples or spread.
    """
    p_bootstrap: float
    """Two-sided p-value of the paired bootstrap, shifted to the null hypothesis."""
    p_randomisation: float
    """Two-sided p-value of approximate randomisation."""
    draws: int
    """Number of assignments, and of resamples."""
    exact: bool
    """True when the assignments are all 2^B patterns."""
    p_jackknife: float = float("nan")
    """Two-sided p-value of the jackknife over parts of the examples
    (:func:`difference_of_parts`); NaN for the other methods.
    """

    @property
    def p_value(self) -> float:
        """P-value that a comparison reports: of approximate randomisation, or of the
        jackknife over parts.
        """
        if np.isnan(self.p_randomisation):
            return self.p_jackknife
        return self.p_randomisation


@dataclass(frozen=True)
class PairSums:
    """Sums of the addends of one system: observed, resampled, and over random halves of
    the examples.
    """

    total: np.ndarray
    """Shape (k,)."""
    resampled: np.ndarray
    """Sums under bootstrap counts, shape (draws, k)."""
    assigned: np.ndarray
    """Sums over the examples that keep their system, shape (assignments, k)."""
    addends: np.ndarray
    """Addends of the examples, shape (B, k), zeros where undefined; (0, k) where no
    interval is wanted.
    """


def difference_of_sums(
    of_sums: OfSums, a: PairSums, b: PairSums, *, exact: bool
) -> ResampledDifference:
    """Compare two systems whose statistic is a function of sums over examples.

    Exchanging the rows of some examples turns the sums S_A into assigned_A + total_B -
    assigned_B, so that the weighted sums of each system serve every pair.

    Parameters
    ----------
    of_sums : callable
        The statistic as a function of sums.
    a, b : PairSums
        Sums of both systems under the same weight vectors.
    exact : bool
        The assignments are all 2^B patterns.
    """
    values = np.asarray(of_sums(np.stack([a.total, b.total])), dtype=np.float64)

    n = len(a.addends)
    without = np.empty(0)
    if n < bootstrap.SMALL:
        without = of_sums(a.total - a.addends) - of_sums(b.total - b.addends)

    resampled = of_sums(a.resampled) - of_sums(b.resampled)

    # The two systems of each assignment.
    one = of_sums(a.assigned + (b.total - b.assigned))
    other = of_sums(b.assigned + (a.total - a.assigned))
    return _summary(
        values,
        _Resampled(resampled, without, n),
        np.asarray(one),
        np.asarray(other),
        exact,
    )


def difference_of_statistics(
    reduce: Reduce,
    a: Statistics,
    b: Statistics,
    family: DrawFamily,
    *,
    repeats: bool = True,
    clusters: np.ndarray | None = None,
) -> ResampledDifference:
    """Compare the statistic of two systems by its reduction under weights.

    Parameters
    ----------
    reduce : callable
        Reduction of statistics under weights.
    a, b : ndarray or Objects
        Sufficient statistics of both systems on the same B examples in the same order.
    family : DrawFamily
        Weight vectors over the B examples, or over the clusters.
    repeats : bool
        The statistic may be resampled with repetition. False leaves out the bootstrap:
        the interval is that of the jackknife over at most :data:`GROUPS` groups of
        examples, and ``p_bootstrap`` is NaN.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,), where whole clusters are
        resampled and exchanged.

    Returns
    -------
    ResampledDifference
        NaN p-values when the statistic is undefined for a system.

    Raises
    ------
    ValueError
        The arrays differ in length, are empty, or do not fit the family.
    """
    n = len(a) if clusters is None else int(clusters.max()) + 1
    if len(a) != len(b) or len(a) == 0 or n != family.n_examples:
        raise ValueError(
            f"paired statistics have {family.n_examples} rows; "
            f"found {len(a)} and {len(b)}"
        )
    if clusters is not None:
        reduce = _reduce_by_clusters(reduce, clusters)

    # Rows of both systems, of which weights choose: all of one system, or of some
    # examples those of the other.
    both = join_statistics([a, b])
    ones = np.ones((1, n))
    zeros = np.zeros((1, n))
    whole = np.concatenate([np.hstack([ones, zeros]), np.hstack([zeros, ones])])
    values = reduce(both, whole)

    resampled = _Resampled(np.empty(0), np.empty(0), n)
    if repeats and n > 1:
        draws = _concatenated([reduce(a, w) - reduce(b, w) for w in family.resamples()])
        without = np.empty(0)
        if n < bootstrap.SMALL:
            one_less = 1 - np.eye(n)
            without = reduce(a, one_less) - reduce(b, one_less)
        resampled = _Resampled(draws, without, n)
    elif n > 1:
        rest = weights_without_groups(n, family.seed)
        resampled = _Resampled(np.empty(0), reduce(a, rest) - reduce(b, rest), n)

    originals: list[np.ndarray] = []
    exchanged: list[np.ndarray] = []
    for keep in family.assignments():
        originals.append(reduce(both, np.hstack([keep, 1 - keep])))
        exchanged.append(reduce(both, np.hstack([1 - keep, keep])))
    one = _concatenated(originals)
    other = _concatenated(exchanged)
    return _summary(values, resampled, one, other, family.exact)


def difference_of_parts(a: float, b: float, left_out: LeftOut) -> ResampledDifference:
    """Compare two systems by the jackknife over common parts of the examples: nothing
    is resampled, no text occurs twice.

    Parameters
    ----------
    a, b : float
        The statistic of both systems on the same examples.
    left_out : LeftOut
        The difference without parts of the examples, the same parts for both.

    Returns
    -------
    ResampledDifference
        Interval and ``p_jackknife`` of Student's t; the other p-values are NaN, and
        ``draws`` is 0. There is no interval, and a NaN p-value for a difference other
        than 0, where the difference does not vary, or is undefined without some part.

    References
    ----------
    Efron & Stein (1981), *The Jackknife Estimate of Variance*: the variance is on
    average not too small.

    Examples
    --------
    >>> result = difference_of_parts(
    ...     3.0, 1.0, LeftOut(np.array([2.5, 2.0, 1.5]), 1 / 3, 2)
    ... )
    >>> result.difference, round(result.p_jackknife, 4)
    (2.0, 0.0742)
    """
    nan = float("nan")
    observed = a - b
    if np.isnan(observed):
        return ResampledDifference(a, b, observed, None, nan, nan, 0, False)
    if abs(observed) <= ties.tolerance(max(abs(a), abs(b))):
        observed = 0.0  # equal up to the order of summation
    ci95 = jackknife.interval_of_parts(observed, left_out)
    p_value = jackknife.p_value_of_parts(observed, left_out)
    return ResampledDifference(a, b, observed, ci95, nan, nan, 0, False, p_value)


def _reduce_by_clusters(reduce: Reduce, clusters: np.ndarray) -> Reduce:
    """Return the statistic as a function of weights (R, C) of clusters."""

    def reduce_clusters(stats: Any, weights: np.ndarray) -> np.ndarray:
        return reduce(stats, expand_weights(weights, clusters))

    return reduce_clusters


def separable(
    reduce: Reduce, a: Statistics, b: Statistics, expected: tuple[float, float]
) -> bool:
    """Return True when ``reduce`` over the rows of both systems, all weight on one,
    returns the numbers of each alone.

    It does not for a statistic that looks at all rows whatever their weight, such as
    one that clusters them first.
    """
    n = len(a)
    both = join_statistics([a, b])
    weights = np.zeros((2, 2 * n))
    weights[0, :n] = weights[1, n:] = 1
    return bool(
        np.allclose(reduce(both, weights), expected, rtol=1e-9, atol=0, equal_nan=True)
    )


def first_draws(family: DrawFamily, count: int) -> DrawFamily:
    """Return the family of the first ``count`` weight vectors."""
    if family.exact:
        return family
    return DrawFamily(family.n_examples, min(count, family.count), family.seed)


def _concatenated(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0)


def weights_without_groups(n: int, seed: int) -> np.ndarray:
    """Return weights (G, B) that leave out one of G random groups of nearly equal size
    each, at most :data:`GROUPS`.
    """
    groups = min(n, GROUPS)
    label = np.random.default_rng([seed, n, 2]).permutation(n) % groups
    return (np.arange(groups)[:, None] != label).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Resampled:
    """Differences under resampling (draws,), and without each example or group (G,),
    of n examples.
    """

    draws: np.ndarray
    without: np.ndarray
    n: int

    def interval(self, observed: float) -> tuple[float, float] | None:
        """Return the interval of the observed difference."""
        if len(self.draws):
            return bootstrap.interval_of_draws(
                self.draws, observed, self.without, self.n
            )
        if len(self.without) > 1:
            return jackknife.interval(observed, self.without)
        return None


def _summary(
    values: np.ndarray,
    resampled: _Resampled,
    one: np.ndarray,
    other: np.ndarray,
    exact: bool,
) -> ResampledDifference:
    """Return interval and p-values; ``one`` and ``other`` are the values of both
    systems under each assignment.
    """
    value_a = float(values[0])
    value_b = float(values[1])
    observed = value_a - value_b
    nan = float("nan")
    if np.isnan(observed):
        return ResampledDifference(
            value_a, value_b, observed, None, nan, nan, len(one), exact
        )

    scale = max(abs(value_a), abs(value_b))
    if abs(observed) <= ties.tolerance(scale):
        observed = 0.0  # equal up to the order of summation

    # The bootstrap distribution is shifted to the null hypothesis (Riezler & Maxwell).
    p_bootstrap = nan
    draws = resampled.draws[~np.isnan(resampled.draws)]
    if len(draws) > 1:
        shifted = np.abs(draws - draws.mean())
        reached = np.sum(shifted >= abs(observed) - ties.tolerance(scale))
        p_bootstrap = float((1 + reached) / (1 + len(draws)))
    ci95 = resampled.interval(observed)

    swapped = np.abs(one - other)
    defined = ~np.isnan(swapped)
    scale = max(scale, float(ties.magnitude(np.concatenate([one, other]))))
    extreme = int(np.sum(swapped[defined] >= abs(observed) - ties.tolerance(scale)))
    count = int(defined.sum())
    # All assignments contain the observed one; random ones do not.
    if exact and count:
        p_randomisation = extreme / count
    else:
        p_randomisation = (1 + extreme) / (1 + count)
    return ResampledDifference(
        value_a, value_b, observed, ci95, p_bootstrap, p_randomisation, len(one), exact
    )
