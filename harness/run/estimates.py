"""View of a run while it goes on: the latest captions, and estimates of scores, numbers
on the examples so far with 95 % intervals.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from harness.contracts import Example, MeanMetric, Metric, Objects, Statistics
from harness.run.live_results import current_results, show_result
from harness.run.metric_plan import MetricPlan
from harness.run.record_fields import metric_fields
from harness.rundir.records import ResultRecord

MIN_EXAMPLES = 10
"""Number of examples below which there is no interval."""
MAX_METRICS = 3
"""Number of metrics in a text."""
LATEST = 12
"""Number of captions that are kept."""


@dataclass
class RunningMoments:
    """Sums and products of addends, from which a number and its interval follow."""

    count: int
    sums: np.ndarray
    """Sums of the addends, shape (k,)."""
    products: np.ndarray
    """Sums of the products of addends, shape (k, k)."""

    @classmethod
    def of_nothing(cls, k: int) -> RunningMoments:
        """Return the moments of no examples, which have k addends each."""
        return cls(0, np.zeros(k), np.zeros((k, k)))

    def add(self, addends: np.ndarray) -> None:
        """Add examples, addends of shape (B, k)."""
        self.count += len(addends)
        self.sums += addends.sum(axis=0)
        self.products += addends.T @ addends

    def estimate(self, metric: MeanMetric) -> tuple[float, float]:
        """Return the number and half the width of its 95 % interval, by linear
        propagation of the variance of the sums.
        """
        value = float(np.asarray(metric.of_sums(self.sums[None]))[0])
        # of the sums over independent examples
        covariance = self.products - np.outer(self.sums, self.sums) / self.count
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))

        # Slopes by central differences, half a standard deviation to each side; a sum
        # that does not vary has none.
        steps = np.where(deviations > 0, 0.5 * deviations, 1.0)
        moves = np.concatenate([np.diag(steps), -np.diag(steps)])
        above, below = np.split(np.asarray(metric.of_sums(self.sums + moves)), 2)
        slopes = np.where(deviations > 0, (above - below) / (2 * steps), 0.0)

        variance = max(slopes @ covariance @ slopes, 0.0)
        return value, 1.96 * float(np.sqrt(variance))


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
    _moments: dict[tuple[int, int], RunningMoments] = field(
        default_factory=dict[tuple[int, int], RunningMoments]
    )
    _lock: Lock = field(default_factory=Lock)

    def add(self, system: int, metric: int, stats: Statistics) -> None:
        """Add the statistics of examples under a metric; those of a metric that is no
        function of sums are passed over.
        """
        component: Metric = self.metrics[metric].metric
        if not isinstance(component, MeanMetric) or isinstance(stats, Objects):
            return
        if not stats.size:
            return
        rows = stats[~np.isnan(stats[:, 0])]
        if not len(rows):
            return

        addends = np.asarray(component.summands(rows), dtype=np.float64)
        k = addends.shape[1]
        with self._lock:
            moments = self._moments.get((system, metric))
            if moments is None or len(moments.sums) != k:
                moments = RunningMoments.of_nothing(k)
                self._moments[system, metric] = moments
            moments.add(addends)
        if current_results() is not None:
            self._show(system, metric, component, moments)

    def _show(
        self, system: int, metric: int, component: MeanMetric, moments: RunningMoments
    ) -> None:
        """Show the estimate among the results so far."""
        plan = self.metrics[metric]
        with np.errstate(all="ignore"):
            value, half = moments.estimate(component)
        has_interval = moments.count >= MIN_EXAMPLES and np.isfinite(half)
        record = ResultRecord(
            **metric_fields(plan),
            metric=plan.label,
            model=self.labels[system],
            value=value,
            ci95=(value - half, value + half) if has_interval else None,
            n=moments.count,
        )
        show_result(record)

    def rows(self) -> list[tuple[int, int, float, float, int]]:
        """Return system, metric, number, half the width of its 95 % interval and number
        of examples, where there are enough of them.
        """
        rows: list[tuple[int, int, float, float, int]] = []
        with self._lock, np.errstate(all="ignore"):
            for (system, metric), moments in self._moments.items():
                component = self.metrics[metric].metric
                if moments.count >= MIN_EXAMPLES and isinstance(component, MeanMetric):
                    value, half = moments.estimate(component)
                    if np.isfinite([value, half]).all():
                        rows.append((system, metric, value, half, moments.count))
        return rows

    def text(self) -> str:
        """Return the estimates of the system that was scored last;
        empty before there are any.
        """
        rows = self.rows()
        if not rows:
            return ""
        latest = max(rows, key=lambda row: (row[4], -row[0]))[0]
        own = [row for row in rows if row[0] == latest][:MAX_METRICS]
        texts = [
            f"{self.metrics[metric].label} {value:.3g} \u00b1 {half:.1g}"
            for _, metric, value, half, _ in own
        ]
        return f"{self.labels[latest]}: {', '.join(texts)} so far"


@dataclass
class Watch:
    """View of the runs of one command; another thread may read it."""

    task: str = ""
    """Task of the run that goes on."""
    examples: int = 0
    """Number of its examples."""
    estimates: Estimates | None = None
    """Estimates of its scores; None before the first are computed."""
    latest: deque[tuple[str, Example, Mapping[str, object]]] = field(
        default_factory=lambda: deque(maxlen=LATEST)
    )
    """Model, example and row of its latest captions, in the order of their arrival."""

    def begin(self, task: str, examples: int) -> None:
        """Forget the run before."""
        self.task = task
        self.examples = examples
        self.estimates = None
        self.latest.clear()
