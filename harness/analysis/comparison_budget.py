"""Comparisons that a report computes by itself: those that are stored, or cost little;
the others wait for ``harness compare``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.compare import DRAWS, compare_pairs, row_name
from harness.analysis.comparisons import Comparison
from harness.analysis.paired_family import JACKKNIFED
from harness.analysis.pairs import Pair
from harness.analysis.stored_comparisons import StoredComparisons
from harness.contracts import MeanMetric, Metric, OwnInterval
from harness.run.stored_metrics import read_metric

BUDGET = 8.0
"""Largest estimated time of all tests that are not stored,
in seconds of one processor core.
"""
MAX_PAIRS = 2000
"""Largest number of pairs of systems that a report compares."""
PER_TEST = 5e-3
"""Estimated seconds of a test of a metric whose number is a function of sums,
for any number of examples.
"""
PER_EXAMPLE = 6e-5
"""Estimated seconds to draw the weights of one example, common to all tests."""
PER_PRODUCT = 5e-6
"""Estimated seconds to sum one example of one system and metric under all weights."""
GENERAL = 1e-3
"""Estimated seconds per example of a test of a metric whose number is no function of
sums: of each pair, or from :data:`~harness.analysis.paired_family.JACKKNIFED` examples
on of each system for a metric with an interval of its own.
"""


@dataclass(frozen=True)
class Affordable:
    """Metrics of some pairs by whether their tests are within the budget."""

    metrics: tuple[str, ...]
    postponed: tuple[str, ...] = ()
    """Metrics whose tests are neither stored nor within the budget."""
    missing: int = 0
    """Number of tests of the postponed metrics that are not stored."""


def affordable(pairs: Sequence[Pair], budget: float | None = BUDGET) -> Affordable:
    """Return the metrics whose tests are stored or within the budget: first those that
    are functions of sums, then the others.

    The estimate counts tests, systems and examples; it reads no clock, so that the same
    runs give the same metrics.

    Parameters
    ----------
    pairs : sequence of Pair
        Pairs of systems to compare in every metric that they share.
    budget : float, optional
        Largest estimated time in seconds; None: no bound.
    """
    metrics = tuple(dict.fromkeys(name for pair in pairs for name in pair.metrics))
    if budget is None:
        return Affordable(metrics)
    runs = [side.run for pair in pairs for side in (pair.one, pair.other)]
    stored = StoredComparisons.of(runs, DRAWS, 0).rows
    absent: dict[str, list[Pair]] = {name: [] for name in metrics}
    for pair in pairs:
        for name in pair.metrics:
            if row_name(pair, name) not in stored:
                absent[name].append(pair)

    components = {name: _metric(pairs, name) for name in metrics}
    additive = {
        name for name, metric in components.items() if isinstance(metric, MeanMetric)
    }
    tested = {name for name in metrics if not absent[name]}
    drawn = False
    # Sums cost little, and share the weights of the examples once these are drawn.
    for name in sorted(metrics, key=lambda name: name not in additive):
        if name in tested:
            continue
        cost = _cost(absent[name], components[name], drawn=drawn)
        if cost <= budget:
            tested.add(name)
            budget -= cost
            drawn = drawn or name in additive

    postponed = tuple(name for name in metrics if name not in tested)
    return Affordable(
        tuple(name for name in metrics if name in tested),
        postponed,
        sum(len(absent[name]) for name in postponed),
    )


def compare_affordable(
    pairs: Sequence[Pair], metrics: Sequence[str]
) -> list[tuple[Pair, Comparison]]:
    """Return pairs with their rows of some metrics, as
    :func:`~harness.analysis.compare.compare_pairs`; pairs may lack some of them.
    """
    by_metrics: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        shared = tuple(name for name in pair.metrics if name in metrics)
        if shared:
            by_metrics.setdefault(shared, []).append(pair)

    rows: list[tuple[Pair, Comparison]] = []
    for shared, members in by_metrics.items():
        of_rows = [pair for pair in members for _ in shared]
        rows += zip(of_rows, compare_pairs(members, metrics=shared))
    return rows


def _cost(pairs: Sequence[Pair], metric: Metric | None, *, drawn: bool) -> float:
    """Return the estimated seconds of the tests of one metric; ``drawn``: the weights
    of the examples are drawn already.
    """
    sizes = [max(len(pair.a.rows), len(pair.b.rows)) for pair in pairs]
    systems = {
        (id(side), system)
        for pair in pairs
        for side, system in ((pair.one, pair.a), (pair.other, pair.b))
    }
    rows = sum(len(system.rows) for _, system in systems)
    if not isinstance(metric, MeanMetric):
        of_systems = isinstance(metric, OwnInterval) and min(sizes) >= JACKKNIFED
        return GENERAL * (rows if of_systems else sum(sizes))
    weights = 0.0 if drawn else PER_EXAMPLE * max(sizes)
    return PER_TEST * len(pairs) + weights + PER_PRODUCT * rows


def _metric(pairs: Sequence[Pair], label: str) -> Metric | None:
    """Return the metric of a label; None for a run that does not list it."""
    side = next(pair.one for pair in pairs if label in pair.metrics)
    if all(entry.label != label for entry in side.run.provenance.metrics):
        return None
    return read_metric(side.run, label)
