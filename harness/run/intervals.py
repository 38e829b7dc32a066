"""The corpus number of a metric with its 95 % interval,
or the reason why there is no interval.

Measured coverages of intervals, a table beside the code of metrics, decide whether a
run prints an interval. Fields of a result record that a metric determines are built
here.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np

from harness.contracts import (
    HasConstants,
    Interval,
    MeanMetric,
    Metric,
    Objects,
    OwnInterval,
    Statistics,
    TokenScoreMetric,
)
from harness.errors import HarnessError
from harness.run.coverage_tables import checked_interval
from harness.stats import bootstrap, jackknife, ties
from harness.stats.bootstrap import expand_weights, leave_clusters_out, number_clusters
from harness.stats.quantiles import wilson_interval

NO_EXAMPLES = "an interval needs at least two examples"
"""Note of a result on fewer than two examples."""
NOT_FINITE = "the value is not finite"
"""Note of a number that is NaN or infinite."""
NOT_RESAMPLED = "the metric cannot be computed from resampled examples"
"""Note of a metric that declares ``resampled=False`` and no interval of its own."""


def estimate(
    metric: Metric,
    stats: Statistics,
    samples: int,
    seed: int,
    clusters: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> tuple[float, Interval]:
    """Return the corpus number of the defined rows and its interval
    (:func:`nominal_estimate`), unless its measured coverage is too low.

    Parameters and result are those of :func:`nominal_estimate`: statistics of shape (B,
    d) or objects, clusters and order of shape (B,).
    """
    value, interval = nominal_estimate(metric, stats, samples, seed, clusters, order)
    count = len(stats) if clusters is None else len(np.unique(clusters))
    return value, checked_interval(metric, interval, count)


def nominal_estimate(
    metric: Metric,
    stats: Statistics,
    samples: int,
    seed: int,
    clusters: np.ndarray | None = None,
    order: np.ndarray | None = None,
) -> tuple[float, Interval]:
    """Return the corpus number of the defined rows and its nominal 95 % interval.

    A metric with :class:`~harness.contracts.OwnInterval` computes the interval; for the
    others ``reduce`` is bootstrapped
    (:func:`harness.stats.bootstrap.confidence_interval`), unless it is the mean of
    scores that all lie at a bound of ``MetricSpec.bounds``, such as 0 and 1, or a
    number that lies at one as all scores do
    (:func:`harness.stats.quantiles.wilson_interval`). Their note is
    ``MetricSpec.held_fixed``. No interval leaves the bounds.

    Parameters
    ----------
    metric : Metric
        The metric.
    stats : ndarray or Objects
        Statistics of the defined examples.
    samples : int
        Number of bootstrap samples; 0: no interval, and no note.
    seed : int
        Seed of the samples.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,), where examples are not
        independent: whole clusters are resampled.
    order : ndarray, optional
        Order in which the examples are resampled, positions of shape (B,), so that the
        interval does not depend on that of their file
        (:mod:`harness.stats.name_order`); None: the order that they have.

    Returns
    -------
    tuple
        The number, NaN without rows, and its interval.
    """
    value = _number(metric, metric.reduce(stats)) if len(stats) else float("nan")
    if samples == 0:
        return value, Interval(None)
    if len(stats) < 2:
        return value, Interval(None, NO_EXAMPLES)
    if not np.isfinite(value):
        return value, Interval(None, NOT_FINITE)

    if order is not None:
        stats = stats[order]
        clusters = None if clusters is None else clusters[order]

    # Clusters come before an interval of the metric's own, which takes the examples to
    # be independent.
    if clusters is not None:
        return value, _cluster_interval(
            metric, stats, value, samples, seed, number_clusters(clusters)
        )
    if isinstance(metric, OwnInterval):
        own = metric.interval(stats, samples, seed)
        return value, replace(own, ends=within_bounds(metric, own.ends, value))
    if not metric.spec.resampled:
        return value, Interval(None, NOT_RESAMPLED)

    ends = _share_interval(metric, stats, value)
    if ends is None:
        ends = _resampled_interval(metric, stats, value, samples, seed)
    if ends is None:
        return value, Interval(None, bootstrap.NO_SPREAD)
    return value, Interval(within_bounds(metric, ends, value), metric.spec.held_fixed)


def _resampled_interval(
    metric: Metric, stats: Statistics, value: float, samples: int, seed: int
) -> bootstrap.Ends | None:
    """Return the bootstrap interval of a number; None without spread."""
    precision = metric.spec.tolerance
    is_mean = isinstance(metric, MeanMetric) and not isinstance(stats, Objects)

    # Many examples are resampled by their sums where the number is a function of them.
    if is_mean and len(stats) >= bootstrap.LARGE:
        is_sum, ends = bootstrap.large_interval(
            cast(MeanMetric, metric),
            cast(np.ndarray, stats),
            value,
            samples,
            seed,
            precision,
        )
        if is_sum or ends is not None:
            return ends
    return bootstrap.confidence_interval(
        lambda weights: metric.reduce(stats, weights),
        len(stats),
        samples,
        seed,
        precision,
    )


def _cluster_interval(
    metric: Metric,
    stats: Statistics,
    value: float,
    samples: int,
    seed: int,
    clusters: np.ndarray,
) -> Interval:
    """Return the interval of a number of clusters of examples.

    A number with an interval of its own, which repeated examples bias, has the
    jackknife of groups of clusters; another is bootstrapped.
    """
    count = int(clusters.max()) + 1
    note = f"{count} clusters resampled"
    if count < 2:
        return Interval(None, "an interval needs at least two clusters")

    is_biased_by_copies = isinstance(metric, OwnInterval) or not metric.spec.resampled
    if is_biased_by_copies and not isinstance(metric, MeanMetric):
        values = leave_clusters_out(metric.reduce, stats, clusters, seed)
        ends = jackknife.interval_of_parts(value, values)
    else:
        ends = bootstrap.confidence_interval(
            lambda weights: metric.reduce(stats, expand_weights(weights, clusters)),
            count,
            samples,
            seed,
            metric.spec.tolerance,
        )
    if ends is None:
        return Interval(None, bootstrap.NO_SPREAD)
    notes = [text for text in (metric.spec.held_fixed, note) if text]
    return Interval(within_bounds(metric, ends, value), "; ".join(notes))


def within_bounds(
    metric: Metric | TokenScoreMetric, ends: bootstrap.Ends | None, value: float
) -> bootstrap.Ends | None:
    """Return the ends cut to the bounds of the metric,
    which symmetric intervals pass and percentiles do not.
    """
    if ends is None:
        return None
    low, high = metric.spec.bounds or (-math.inf, math.inf)
    return max(ends[0], min(low, value)), min(ends[1], max(high, value))


def _number(metric: Metric, value: object) -> float:
    """Return a corpus number; raise :class:`HarnessError` for anything else."""
    is_text = isinstance(value, (str, bytes))
    if value is not None and not is_text and not np.ndim(cast("float", value)):
        return float(cast("float", value))
    raise HarnessError(
        f"metric '{metric.spec.name}' reduces its statistics to {value!r:.80}; "
        "expected one number"
    )


def _share_interval(
    metric: Metric, stats: Statistics, value: float
) -> tuple[float, float] | None:
    """Return the interval of a mean of scores that all lie at a bound, which is a
    share, and of another number that lies at the bound where all scores do; None for
    any other number.

    At a bound lies what differs from it by rounding or by the constants of the metric's
    formula.
    """
    bounds = metric.spec.bounds
    if bounds is None or not all(map(math.isfinite, bounds)):
        return None
    if not isinstance(metric, MeanMetric) or isinstance(stats, Objects):
        return None

    low, high = bounds
    margin = metric.spec.tolerance * (high - low)
    scores = ties.without_constants(metric, stats, metric.per_example(stats))
    is_low = scores <= low + margin
    is_high = scores >= high - margin
    if not (is_low | is_high).all():
        return None

    if type(metric).reduce is not MeanMetric.reduce:
        # Scores that are 0 but for constants sum to a number of which the same is true,
        # whatever its size.
        is_low_number = isinstance(metric, HasConstants) or value <= low + margin
        at_low = is_low.all() and is_low_number
        at_high = is_high.all() and value >= high - margin
        if not (at_low or at_high):
            return None

    share = np.count_nonzero(is_high) / len(stats)
    ends = wilson_interval(share, len(stats))
    return low + (high - low) * ends[0], low + (high - low) * ends[1]
