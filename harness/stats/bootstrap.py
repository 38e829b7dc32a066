"""Bootstrap over examples: weights as counts, so that a metric's ``reduce`` resamples
by a matrix product.

Examples that are not independent (several of one image, video or dialogue) are
resampled in whole clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np

from harness.contracts import LeftOut, Objects, Statistics, weighted_sums
from harness.stats import quantiles, ties

Ends = tuple[float, float]
"""Lower and upper end of an interval."""
SMALL = 500
"""Number of examples below which :func:`confidence_interval` adjusts the percentiles;
at 100, percentiles cover about .935.
"""
FEW = 7
"""Number of examples below which :func:`interval_of_draws` is Student's t interval:
percentiles lie within the smallest and the largest score. Coverage of means of 4000
samples at n = 2, 3, 5, 6: normal .52 .73 .91 .93 by BCa and .96 .96 .95 .95 by t,
exponential .45 .70 .87 .88 and .92 .88 .89 .88; at 7 BCa has .94 and .90, t .96 and
.90.
"""
LARGE = 20_000
"""Number of examples from which weights are Poisson counts of a counter-based generator
(:func:`poisson_sums`).
"""
MAX_WEIGHTS = 1 << 24
"""Maximum number of weights in one array."""
MAX_KEPT = 1 << 19
"""Maximum number of weights that are kept for the next metric or system on as many
examples.
"""
COUNTER_BLOCK = 4096
"""Examples per position of the counter."""
CACHED_ROWS = 64
"""Rows of draws that fit into the processor's cache."""
NO_SPREAD = "every resample of the examples gives the same number"
"""Note of a number whose bootstrap samples do not differ."""
LEFT_OUT_GROUPS = 20
"""Maximum number of groups of clusters that are left out of a metric that is computed
anew for each of them.
"""


def weights(
    n_examples: int, samples: int, seed: int, chunk: int = 256
) -> Iterator[np.ndarray]:
    """Yield bootstrap weights, float64, in chunks of shape (at most ``chunk``, B).

    Each row holds multinomial counts that sum to B. Seed and B determine the rows, so
    that two models scored on the same examples get the same resamples and their
    difference is paired.

    Parameters
    ----------
    n_examples : int
        Number of examples B.
    samples : int
        Number of rows in all.
    seed : int
        Seed of the generator.
    chunk : int
        Maximum number of rows per array.
    """
    draw = _kept_weights if n_examples * samples <= MAX_KEPT else _drawn_weights
    rows = max(1, min(chunk, MAX_WEIGHTS // n_examples))
    yield from draw(n_examples, samples, seed, rows)


@lru_cache(maxsize=2)
def _kept_weights(
    n_examples: int, samples: int, seed: int, chunk: int
) -> tuple[np.ndarray, ...]:
    blocks = tuple(_drawn_weights(n_examples, samples, seed, chunk))
    for block in blocks:
        block.flags.writeable = False
    return blocks


def _drawn_weights(
    n_examples: int, samples: int, seed: int, chunk: int
) -> Iterator[np.ndarray]:
    rng = np.random.default_rng([seed, n_examples])
    share = np.full(n_examples, 1.0 / n_examples)
    for start in range(0, samples, chunk):
        rows = min(chunk, samples - start)
        yield rng.multinomial(n_examples, share, size=rows).astype(np.float64)


def poisson_sums(addends: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Return sums of the rows of ``addends`` (B, k) under Poisson weights of mean 1,
    float64, shape (samples, k).

    The weights of an example depend on the seed and its position alone: they come from
    a counter-based generator (Philox) whose counter is the position, so that any
    division of the examples draws the same, and memory does not grow with B. For many
    examples Poisson counts resample as multinomial counts do, up to terms of order 1 /
    B. Probabilities are multiples of 2^-16.

    References
    ----------
    Hanley & MacGibbon (2006), *Creating non-parametric bootstrap samples using Poisson
    frequencies*, Computer Methods and Programs in Biomedicine 83(1); Chamandy et al.
    (2012), *Estimating Uncertainty for Massive Data Streams*, Google; Salmon et al.
    (2011), *Parallel Random Numbers: As Easy as 1, 2, 3*, SC11 (Philox).
    """
    sums = np.zeros((samples, addends.shape[1]))
    for block, start in enumerate(range(0, len(addends), COUNTER_BLOCK)):
        rows = addends[start : start + COUNTER_BLOCK]
        # The block is the counter, so that its draws do not depend on other blocks.
        words = np.random.Philox(key=seed, counter=[0, 0, 0, block]).random_raw(
            samples * COUNTER_BLOCK // 4
        )
        # Four 16-bit numbers from each word, in the same order on every machine.
        draws = words.astype("<u8", copy=False).view("<u2")
        draws = draws.reshape(samples, COUNTER_BLOCK)
        sums += weighted_sums(_counts_of(draws[:, : len(rows)]), rows)
    return sums


def _counts_of(draws: np.ndarray) -> np.ndarray:
    """Return the Poisson counts of 16-bit numbers, uint8, of the same shape."""
    counts = np.zeros(draws.shape, dtype=np.uint8)
    # Comparisons are faster than reading a table.
    for start in range(0, len(draws), CACHED_ROWS):
        rows = draws[start : start + CACHED_ROWS]
        part = counts[start : start + CACHED_ROWS]
        for first in _first_draws():
            part += (rows >= first).view(np.uint8)
    return counts


@cache
def _first_draws() -> np.ndarray:
    """Return the smallest 16-bit number of each Poisson count from 1 on, uint16."""
    return (np.flatnonzero(np.diff(_poisson_counts())) + 1).astype(np.uint16)


@cache
def _poisson_counts() -> np.ndarray:
    """Return the Poisson count of mean 1 of each 16-bit number, float64, shape
    (65536,); the counts sum to 65536.
    """
    probabilities = np.cumsum(
        [math.exp(-1) / math.factorial(count) for count in range(9)]
    )
    ends = np.rint(probabilities * 65536).astype(int)
    counts = np.searchsorted(ends, np.arange(65536), side="right").astype(np.float64)

    # Rounding of the probabilities: the counts must sum to 65536.
    surplus = int(counts.sum()) - 65536
    ones = np.flatnonzero(counts == 1)[: abs(surplus)]
    counts[ones] -= np.sign(surplus)
    return counts


class BootstrapSums(Protocol):
    """A number that is a function of sums over examples
    (:class:`harness.contracts.SumMetric`).
    """

    def summands(self, stats: np.ndarray) -> np.ndarray:
        """Return the addends (B, k) of statistics (B, d)."""
        ...

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return numbers (...) from sums (..., k)."""
        ...


def large_interval(
    metric: BootstrapSums,
    stats: np.ndarray,
    value: float,
    samples: int,
    seed: int,
    precision: float = ties.FLOAT64,
) -> tuple[bool, Ends | None]:
    """Return the 95 % interval of the number of at least :data:`LARGE` examples,
    by sums of addends.

    Parameters
    ----------
    metric : BootstrapSums
        The metric.
    stats : ndarray
        Statistics, shape (B, d).
    value : float
        The number itself.
    samples : int
        Number of bootstrap samples.
    seed : int
        Seed of the weights.
    precision : float
        As in :func:`interval_of_draws`.

    Returns
    -------
    tuple
        False and None where the sums do not give ``value``; else True and the interval,
        None where the samples do not differ.
    """
    addends = np.asarray(metric.summands(stats), dtype=np.float64)
    whole = float(np.asarray(metric.of_sums(addends.sum(axis=0)[None]))[0])
    if not np.isclose(whole, value, rtol=1e-9, atol=1e-12):
        return False, None

    sums = poisson_sums(addends, samples, seed)
    values = np.asarray(metric.of_sums(sums), dtype=np.float64)
    return True, interval_of_draws(values, value, np.zeros(0), len(stats), precision)


def distribution(
    reduce: Callable[[np.ndarray], np.ndarray], n_examples: int, samples: int, seed: int
) -> np.ndarray:
    """Return the values of ``reduce(weights)`` under resampling of the examples,
    float64, shape (samples,).

    ``reduce`` maps weights (W, B) to values (W,). Source: Efron (1979), *Bootstrap
    Methods: Another Look at the Jackknife*, Annals of Statistics 7(1).
    """
    return np.concatenate(
        [
            np.asarray(reduce(w), dtype=np.float64)
            for w in weights(n_examples, samples, seed)
        ]
    )


def interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval (low, high) of bootstrap values (samples,).

    >>> interval(np.arange(5.0), level=0.5)
    (1.0, 3.0)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def confidence_interval(
    reduce: Callable[[np.ndarray], np.ndarray],
    n_examples: int,
    samples: int,
    seed: int,
    precision: float = ties.FLOAT64,
) -> tuple[float, float] | None:
    """Return the bootstrap 95 % interval (low, high) of ``reduce(ones)``; None where
    the samples do not differ.

    The interval is :func:`student_interval` below :data:`FEW` examples,
    :func:`adjusted_interval` below :data:`SMALL`, where percentiles cover too rarely,
    and :func:`interval` from there on. Samples whose value is NaN are left out.

    Parameters
    ----------
    reduce : callable
        Maps weights (W, B) to values (W,).
    n_examples : int
        Number of examples B, at least 2.
    samples : int
        Number of bootstrap samples.
    seed : int
        Seed of the weights.
    precision : float
        As in :func:`interval_of_draws`.
    """
    values = distribution(reduce, n_examples, samples, seed)
    if n_examples >= SMALL:
        return interval_of_draws(
            values, float("nan"), np.zeros(0), n_examples, precision
        )

    value = float(np.asarray(reduce(np.ones((1, n_examples))))[0])
    without_one = np.asarray(reduce(1.0 - np.eye(n_examples)), dtype=np.float64)
    return interval_of_draws(values, value, without_one, n_examples, precision)


def interval_of_draws(
    values: np.ndarray,
    value: float,
    without_one: np.ndarray,
    n_examples: int,
    precision: float = ties.FLOAT64,
) -> tuple[float, float] | None:
    """Return the 95 % interval of bootstrap values; None where they do not differ by
    more than rounding, or constants of a formula.

    Parameters
    ----------
    values : ndarray
        Bootstrap values, shape (samples,); NaN values are left out.
    value : float
        The number itself; used below :data:`SMALL` examples.
    without_one : ndarray
        Numbers without one example each, shape (B,), or (0,) when they are not
        available; used below :data:`SMALL` examples.
    n_examples : int
        Number of examples B, at least 2.
    precision : float
        Share of the largest value up to which values are equal, such as
        ``MetricSpec.tolerance``.
    """
    values = values[~np.isnan(values)]
    if len(values) == 0 or not np.isfinite(values).all():
        return None
    # Values that are equal up to rounding have no interval.
    if np.ptp(values) <= ties.tolerance(float(np.abs(values).max()), precision):
        return None

    if n_examples >= SMALL:
        return interval(values)
    if n_examples < FEW:
        return student_interval(values, value, n_examples)
    return adjusted_interval(
        values, value, without_one[np.isfinite(without_one)], n_examples
    )


def student_interval(
    values: np.ndarray, value: float, n_examples: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval value ± t standard errors of the bootstrap, for few examples.

    The standard error is the deviation of the values times sqrt(n / (n - 1)), because
    resampled variances are too small by (n - 1) / n: for a mean that is Student's
    interval, up to the error of the draws.

    Parameters
    ----------
    values : ndarray
        Bootstrap values, shape (samples,).
    value : float
        The number itself.
    n_examples : int
        Number of examples B, at least 2.
    level : float
        Nominal coverage.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, section 12.4.

    Examples
    --------
    >>> low, high = student_interval(np.array([1.0, 3.0, 2.0, 2.0]), 2.0, 2)
    >>> round(low, 2), round(high, 2)
    (-10.71, 14.71)
    """
    error = float(np.std(values)) * np.sqrt(n_examples / (n_examples - 1))
    half = quantiles.student_quantile(n_examples - 1, (1 + level) / 2) * error
    return float(value - half), float(value + half)


def adjusted_interval(
    values: np.ndarray,
    value: float,
    without_one: np.ndarray,
    n_examples: int,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval (BCa) with Student quantiles,
    which contains ``value``.

    BCa corrects the percentiles for median bias and for a standard error that depends
    on the parameter. Its normal quantiles z are replaced by t sqrt(n / (n - 1)),
    because resampled variances are too small by (n - 1) / n and estimated.

    Parameters
    ----------
    values : ndarray
        Bootstrap values, shape (samples,), at least two of them distinct.
    value : float
        The number itself.
    without_one : ndarray
        Numbers without one example each, shape (at most B,).
    n_examples : int
        Number of examples B, at least 2.
    level : float
        Nominal coverage.

    References
    ----------
    Efron (1987), *Better Bootstrap Confidence Intervals*, JASA 82(397), section 2;
    Hesterberg (2015), *What Teachers Should Know About the Bootstrap*, The American
    Statistician 69(4), section 3.3 (expanded percentiles).
    """
    count = len(values)
    # A value equal to bootstrap values, up to rounding, lies in the middle of them:
    # discrete scores have many ties.
    tie = ties.tolerance(float(np.abs(values).max()))
    equal = np.sum(np.abs(values - value) <= tie)
    below = (np.sum(values < value - tie) + equal / 2) / count
    # No share of 0 or 1, whose quantile is infinite.
    bounded = float(np.clip(below, 0.5 / count, 1 - 0.5 / count))
    shift = quantiles.normal_quantile(bounded)

    influence = without_one.mean() - without_one if len(without_one) else np.zeros(1)
    # The acceleration has no unit; powers of tiny numbers underflow.
    influence = influence / (np.abs(influence).max() or 1.0)
    squares = float(np.sum(influence**2))
    acceleration = 0.0
    if squares > 0:
        cubes = float(np.sum(influence * influence * influence))
        acceleration = cubes / (6 * (squares * math.sqrt(squares)))

    student = quantiles.student_quantile(n_examples - 1, (1 + level) / 2)
    z = student * np.sqrt(n_examples / (n_examples - 1))
    tails = [_adjusted_tail(sign * z, shift, acceleration) for sign in (-1, 1)]
    low, high = np.quantile(values, tails)
    return min(float(low), value), max(float(high), value)


def _adjusted_tail(z: float, shift: float, acceleration: float) -> float:
    """Return the probability at which BCa reads the bootstrap distribution for the
    normal quantile ``z``.
    """
    scale = 1 - acceleration * (shift + z)
    if scale <= 0:  # beyond the pole of the transformation
        return 1.0 if shift + z > 0 else 0.0
    return quantiles.normal_cdf(float(shift + (shift + z) / scale))


def number_clusters(labels: np.ndarray) -> np.ndarray:
    """Return the number from 0 of each label, in the order of first appearance,
    int64, shape (B,).

    >>> number_clusters(np.array(["v2", "v1", "v2"])).tolist()
    [0, 1, 0]
    """
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers.ravel()]


def expand_weights(weights: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return weights of examples (W, k B) from weights (W, k C) of clusters,
    for k systems side by side.

    >>> expand_weights(np.array([[2.0, 0.0]]), np.array([0, 1, 0]))
    array([[2., 0., 2.]])
    """
    count = int(clusters.max()) + 1
    of_systems = weights.reshape(len(weights), -1, count)
    return of_systems[:, :, clusters].reshape(len(weights), -1)


def sum_over_clusters(columns: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the sums of columns (B, K) over each cluster, shape (C, K)."""
    sums = np.zeros((int(clusters.max()) + 1, columns.shape[1]))
    np.add.at(sums, clusters, columns)
    return sums


def leave_clusters_out(
    reduce: Callable[[Any], float],
    stats: Statistics | Objects,
    clusters: np.ndarray,
    seed: int,
) -> LeftOut:
    """Return the numbers without each of at most :data:`LEFT_OUT_GROUPS` random groups
    of whole clusters, numbered by ``clusters`` (B,).
    """
    count = int(clusters.max()) + 1
    groups = min(count, LEFT_OUT_GROUPS)
    of_cluster = np.random.default_rng([seed, count, 2]).permutation(count) % groups
    label = of_cluster[clusters]
    values = np.array([float(reduce(stats[label != group])) for group in range(groups)])
    return LeftOut(values, 1 / groups, groups - 1)
