"""Anytime-valid comparisons of two systems: the confidence sequence of a metric, looked
at along a seeded random order of the examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.analysis.paired_family import PairedMetric, collect_addends
from harness.analysis.score_logs import LoggedScore
from harness.contracts import Metric
from harness.run.sequences import finite_bounds, mean_bounds, metric_looks
from harness.stats.anytime import FIRST_LOOK, Look, exchangeable_p_values
from harness.stats.bootstrap import sum_over_clusters

MAX_LOOKS = 24
"""Number of looks at which the path of a finished comparison is kept."""


@dataclass(frozen=True)
class AnytimeTest:
    """Confidence sequence of a difference at the looks of a comparison,
    or the reason why there is none.
    """

    method: str
    """``betting``, ``asymptotic``, or empty."""
    note: str
    looks: Sequence[Look] = ()
    p_exchangeable: float | None = None
    """Anytime p-value of the hypothesis that the two systems are exchangeable in each
    example.
    """

    @property
    def last(self) -> Look | None:
        """The state after all units."""
        return self.looks[-1] if self.looks else None


def anytime_test(
    item: PairedMetric, order: np.ndarray, clusters: np.ndarray | None = None
) -> AnytimeTest:
    """Return the confidence sequence of the difference of two systems by a metric.

    Parameters
    ----------
    item : PairedMetric
        The metric with the data of both systems on B examples; examples that are
        undefined for one of them are left out.
    order : ndarray
        Positions of the units, examples or clusters, in a random order
        (:func:`harness.run.sequences.random_order`), shape (U,).
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,); a whole cluster is one unit.
    """
    addends = collect_addends(item)
    if addends is None:
        return AnytimeTest(
            "",
            "no confidence sequence: the number is no function of sums over "
            "examples, or depends on their count",
        )

    # Units without a defined example are no looks.
    a, b, defined = addends
    units = np.arange(len(defined)) if clusters is None else clusters
    order = order[np.isin(order, units[defined])]
    a, b, sizes = (
        sum_over_clusters(columns, units)[order]
        for columns in (a, b, defined[:, None].astype(np.float64))
    )
    unit = "examples" if clusters is None else "clusters"
    path = metric_looks(item.metric, a, b, sizes[:, 0], _looks(len(order)), unit=unit)
    method, note = _describe(item.metric, unit, path[-1].waits if path else "")

    # Signs of the scores test exchangeability, whatever the metric's number is.
    scores = np.nan_to_num(item.a.scores - item.b.scores)
    signs = exchangeable_p_values(sum_over_clusters(scores[:, None], units)[order, 0])
    return AnytimeTest(method, note, path, float(signs[-1]) if len(signs) else None)


def _describe(metric: Metric, unit: str, waits: str) -> tuple[str, str]:
    """Return the kind of sequence of a metric and a note on it,
    with what it waits for.
    """
    if (bounds := mean_bounds(metric)) is not None:
        return "betting", f"within differences of at most {bounds[1] - bounds[0]:g}"
    start = f"not yet: {waits}" if waits else f"from {FIRST_LOOK} {unit} on"
    if finite_bounds(metric) is not None:
        return "asymptotic", f"asymptotic, {start}"
    # Only of a log can the user declare a range: other metrics declare their own.
    advice = ""
    if isinstance(metric, LoggedScore):
        advice = " (bounds=(LOW, HIGH) declares it)"
    return "asymptotic", f"asymptotic, without a declared range{advice}, {start}"


def _looks(count: int) -> list[int]:
    """Return about :data:`MAX_LOOKS` numbers of units, ever farther apart,
    that end with all.
    """
    start = min(FIRST_LOOK, count)
    return sorted(
        {round(stop) for stop in np.geomspace(max(1, start), max(1, count), MAX_LOOKS)}
    )
