"""Estimates of scores while a run is scored: the number on the examples so far, with a 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.contracts import MeanMetric, Metric, Objects, Statistics
from harness.run.metric_plan import MetricPlan

MIN_EXAMPLES = 10
"""Number of examples below which there is no interval."""
MAX_METRICS = 3
"""Number of metrics in a text."""


@dataclass
class RunningMoments:
    """Sums and products of addends, from which a number and its interval follow."""

    count: int
    sums: np.ndarray
    """Sums of the addends, shape (k,)."""
    products: np.ndarray
    """Sums of the products of addends, shape (k, k)."""

    def add(self, addends: np.ndarray) -> None:
        """Add examples, addends of shape (B, k)."""
        self.count += len(addends)
        self.sums += addends.sum(axis=0)
        self.products += addends.T @ addends

    def estimate(self, metric: MeanMetric) -> tuple[float, float]:
        """Return the number and half the width of its 95 % interval, by linear propagation of the variance of the sums."""
        value = float(np.asarray(metric.of_sums(self.sums[None]))[0])
        covariance = self.products - np.outer(self.sums, self.sums) / self.count  # of the sums over independent examples
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        steps = np.where(deviations > 0, 0.5 * deviations, 1.0)
        points = np.asarray(metric.of_sums(self.sums + np.concatenate([np.diag(steps), -np.diag(steps)])))
        slopes = np.where(deviations > 0, (points[: len(steps)] - points[len(steps) :]) / (2 * steps), 0.0)
        return value, 1.96 * float(np.sqrt(max(slopes @ covariance @ slopes, 0.0)))


def _zeros(k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(k), np.zeros((k, k))


@dataclass
class Estimates:
    """Running estimates of a run.

    Parameters
    ----------
    metrics : sequence of MetricPlan
        Metrics of the run.
    labels : sequence of str
        Label of each system.
    """

    metrics: Sequence[MetricPlan]
    labels: Sequence[str]
    _moments: dict[tuple[int, int], RunningMoments] = field(default_factory=dict[tuple[int, int], RunningMoments])

    def add(self, system: int, metric: int, stats: Statistics) -> None:
        """Add the statistics of examples under a metric; those of a metric that is no function of sums are passed over."""
        component: Metric = self.metrics[metric].metric
        if not isinstance(component, MeanMetric) or isinstance(stats, Objects) or not stats.size:
            return
        rows = stats[~np.isnan(stats[:, 0])]
        if not len(rows):
            return
        addends = np.asarray(component.summands(rows), dtype=np.float64)
        k = addends.shape[1]
        key = (system, metric)
        moments = self._moments.get(key)
        if moments is None or len(moments.sums) != k:
            moments = self._moments[key] = RunningMoments(0, *_zeros(k))
        moments.add(addends)

    def text(self) -> str:
        """Return the estimates of the system that was scored last; empty before there are any."""
        moments = dict(self._moments)
        if not moments:
            return ""
        system = max(moments, key=lambda key: (moments[key].count, -key[0]))[0]
        values = [self._value(metric, item) for (row, metric), item in moments.items() if row == system]
        texts = [text for text in values if text][:MAX_METRICS]
        return f"{self.labels[system]}: {', '.join(texts)} so far" if texts else ""

    def _value(self, metric: int, moments: RunningMoments) -> str:
        plan = self.metrics[metric]
        assert isinstance(plan.metric, MeanMetric)
        if moments.count < MIN_EXAMPLES:
            return ""
        with np.errstate(all="ignore"):
            value, half = moments.estimate(plan.metric)
        return f"{plan.label} {value:.3g} \u00b1 {half:.1g}" if np.isfinite([value, half]).all() else ""
