"""Anytime-valid comparisons of two systems: the confidence sequence of a metric, looked at along a seeded random order of the examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from harness.analysis.paired_family import PairedMetric, summed_addends
from harness.contracts import MeanMetric, Metric, SumMetric
from harness.errors import HarnessError
from harness.stats.anytime import FIRST_LOOK, LEVEL, Look, asymptotic_looks, betting_looks, exchangeable_p_values
from harness.stats.bootstrap import sum_over_clusters
from harness.stats.seeds import derive

MAX_LOOKS = 24
"""Number of looks at which the path of a finished comparison is kept."""


@dataclass(frozen=True)
class AnytimeTest:
    """Confidence sequence of a difference at the looks of a comparison, or the reason why there is none."""

    method: str
    """``betting``, ``asymptotic``, or empty."""
    note: str
    looks: Sequence[Look] = ()
    p_exchangeable: float | None = None
    """Anytime p-value of the hypothesis that the two systems are exchangeable in each example."""

    @property
    def last(self) -> Look | None:
        """The state after all units."""
        return self.looks[-1] if self.looks else None


def largest_difference(metric: Metric) -> float | None:
    """Return the largest difference of two scores that a metric declares possible, where its number is their mean; None otherwise."""
    bounds = metric.spec.bounds
    is_mean = isinstance(metric, MeanMetric) and not isinstance(metric, SumMetric)
    return bounds[1] - bounds[0] if is_mean and bounds is not None and np.isfinite(bounds).all() else None


def random_order(names: Sequence[str], seed: int) -> np.ndarray:
    """Return the positions of units in a random order that depends on their names and the seed alone, shape (U,).

    A subset of the units has the order that it has within the whole, so that more examples continue a sequence.

    >>> random_order(["a", "b", "c"], 0).tolist() == random_order(["a", "b", "c", "d"], 0).tolist()[:0] + [2, 1, 0]
    True
    """
    return np.array(sorted(range(len(names)), key=lambda k: (derive(seed, "order", names[k]), k)), dtype=np.int64)


def anytime_test(
    item: PairedMetric,
    names: Sequence[str],
    seed: int,
    clusters: np.ndarray | None = None,
    *,
    looks: Sequence[int] = (),
    level: float = LEVEL,
    population: int | None = None,
) -> AnytimeTest:
    """Return the confidence sequence of the difference of two systems by a metric.

    Parameters
    ----------
    item : PairedMetric
        The metric with the data of both systems on B examples; examples that are undefined for one of them are left out.
    names : sequence of str
        Names of the examples, or of the clusters, that determine their order.
    seed : int
        Seed of the order.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (B,); a whole cluster is one unit.
    looks : sequence of int
        Numbers of units at which the sequence is wanted; default: about :data:`MAX_LOOKS`, ever farther apart.
    level : float
        1 minus the coverage.
    population : int, optional
        Number of examples of the data set, for a statement on its mean in place of that of the population behind it.
    """
    addends = summed_addends(item)
    if addends is None:
        return AnytimeTest("", "no confidence sequence: the number is no function of sums over examples, or depends on their count")
    a, b, defined = addends
    units = np.arange(len(defined)) if clusters is None else clusters
    order = random_order(names, seed)
    # Units without a defined example are no looks.
    order = order[np.isin(order, units[defined])]
    a, b, sizes = (sum_over_clusters(columns, units)[order] for columns in (a, b, defined[:, None].astype(np.float64)))
    stops = [stop for stop in (looks or _default_looks(len(order))) if stop <= len(order)]
    bound = largest_difference(item.metric)
    if bound is not None:
        found = betting_looks((a - b)[:, 0], sizes[:, 0], bound, stops, level=level, population=population)
        note = f"within differences of at most {bound:g}"
    elif population is not None:
        raise HarnessError(f"'{item.metric.spec.name}' has no statement on the mean of a data set: its differences have no known bounds")
    else:
        found = asymptotic_looks(cast(MeanMetric, item.metric).of_sums, a, b, stops, level=level)
        note = f"asymptotic, from {FIRST_LOOK} {'examples' if clusters is None else 'clusters'} on"
    scores = np.nan_to_num(item.a.scores - item.b.scores)
    signs = exchangeable_p_values(sum_over_clusters(scores[:, None], units)[order, 0])
    return AnytimeTest("betting" if bound is not None else "asymptotic", note, found, float(signs[-1]) if len(signs) else None)


def _default_looks(count: int) -> list[int]:
    start = min(FIRST_LOOK, count)
    return sorted({round(stop) for stop in np.geomspace(max(1, start), max(1, count), MAX_LOOKS)})
