"""The corpus number of a metric with its 95 % interval, or the reason why there is no interval."""

from __future__ import annotations

import numpy as np

from harness.contracts import HasInterval, Interval, Metric
from harness.stats import bootstrap

NO_EXAMPLES = "an interval needs at least two examples"
"""Note of a result on fewer than two examples."""
NOT_RESAMPLED = "the metric cannot be computed from resampled examples"
"""Note of a metric that declares ``shardable=False`` and no interval of its own."""


def estimate(metric: Metric, stats: np.ndarray, samples: int, seed: int) -> tuple[float, Interval]:
    """Return the corpus number of the defined rows and its interval.

    A metric with :class:`~harness.contracts.HasInterval` computes the interval; for the others ``reduce`` is bootstrapped
    (:func:`harness.stats.bootstrap.confidence_interval`).

    Parameters
    ----------
    metric : Metric
        The metric.
    stats : ndarray
        Statistics of the defined examples, shape (B, d).
    samples : int
        Number of bootstrap samples; 0: no interval, and no note.
    seed : int
        Seed of the samples.

    Returns
    -------
    tuple
        The number, NaN without rows, and its interval.
    """
    value = float(metric.reduce(stats)) if len(stats) else float("nan")
    if samples == 0:
        return value, Interval(None)
    if len(stats) < 2:
        return value, Interval(None, NO_EXAMPLES)
    if isinstance(metric, HasInterval):
        return value, metric.interval(stats, samples, seed)
    if not metric.spec.shardable:
        return value, Interval(None, NOT_RESAMPLED)
    ends = bootstrap.confidence_interval(lambda w: metric.reduce(stats, w), len(stats), samples, seed)
    return value, Interval(ends, "" if ends else bootstrap.NO_SPREAD)
