"""Intervals of the columns of metrics that judge token scores of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.contracts import HasTokenIntervals, Interval, TokenScoreMetric, TokenScores
from harness.run.intervals import NO_EXAMPLES, within_bounds

NO_INTERVAL = "the metric gives no intervals"
"""Note of a metric of level ``model`` without intervals of its own."""


def token_intervals(
    metric: TokenScoreMetric,
    scores: Sequence[Sequence[TokenScores]],
    values: Mapping[str, float],
    samples: int,
    seed: int,
) -> dict[str, Interval]:
    """Return column name -> interval of a metric of level ``model``.

    A metric with :class:`~harness.contracts.HasTokenIntervals` computes them; another
    has none.

    Parameters
    ----------
    metric : TokenScoreMetric
        The metric, for the metadata of examples in the order of ``scores``.
    scores : sequence
        Token scores of the examples, in the order in which they are resampled.
    values : mapping
        Column name -> number.
    samples : int
        Number of bootstrap samples; 0: no intervals, and no notes.
    seed : int
        Seed of the samples.
    """
    if samples == 0:
        return dict.fromkeys(values, Interval(None))
    if len(scores) < 2:
        return dict.fromkeys(values, Interval(None, NO_EXAMPLES))

    own: Mapping[str, Interval] = {}
    if isinstance(metric, HasTokenIntervals):
        own = metric.intervals(scores, samples, seed)
    intervals: dict[str, Interval] = {}
    for name, value in values.items():
        interval = own.get(name, Interval(None, NO_INTERVAL))
        ends = within_bounds(metric, interval.ends, value)
        intervals[name] = replace(interval, ends=ends)
    return intervals
