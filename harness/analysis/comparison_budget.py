"""Comparisons that a report computes by itself: those that are stored, or cost little; the others wait for ``harness compare``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.compare import DRAWS, Pair, compare_pairs, row_name
from harness.analysis.comparison_store import StoredComparisons
from harness.contracts import Additive, Values
from harness.registry import current

BUDGET = 1_200_000
"""Largest sum of the examples of all tests that are not stored; about five seconds."""
GENERAL = 100
"""Cost of a test of a metric whose number is no function of sums, in tests of one that is."""


@dataclass(frozen=True)
class Affordable:
    """Metrics of some pairs by whether their tests are within the budget."""

    metrics: tuple[str, ...]
    postponed: tuple[str, ...] = ()
    """Metrics whose tests are neither stored nor within the budget."""
    missing: int = 0
    """Number of tests of the postponed metrics that are not stored."""


def affordable(pairs: Sequence[Pair], budget: int | None = BUDGET) -> Affordable:
    """Return the metrics whose tests are stored or within the budget: first all that are functions of sums, then the others.

    Parameters
    ----------
    pairs : sequence of Pair
        Pairs of systems to compare in every metric that they share.
    budget : int, optional
        Largest sum of the examples of the tests; None: no bound.
    """
    metrics = tuple(dict.fromkeys(name for pair in pairs for name in pair.metrics))
    if budget is None:
        return Affordable(metrics)
    runs = [side.run for pair in pairs for side in (pair.one, pair.other)]
    stored = StoredComparisons.of(runs, DRAWS, 0).rows
    absent = {name: [p for p in pairs if name in p.metrics and row_name(p, name) not in stored] for name in metrics}
    additive = {name for name in metrics if _is_additive(pairs, name)}
    classes = [[name for name in metrics if (name in additive) == is_sum] for is_sum in (True, False)]
    tested: set[str] = set()
    for names, weight in zip(classes, (1, GENERAL)):
        cost = weight * sum(max(len(p.a.rows), len(p.b.rows)) for name in names for p in absent[name])
        if cost <= budget:
            tested.update(names)
            budget -= cost
        else:
            tested.update(name for name in names if not absent[name])
    postponed = tuple(name for name in metrics if name not in tested)
    return Affordable(
        tuple(name for name in metrics if name in tested), postponed, sum(len(absent[name]) for name in postponed)
    )


def compare_affordable(pairs: Sequence[Pair], metrics: Sequence[str]) -> list[tuple[Pair, Values]]:
    """Return pairs with their rows of some metrics, as :func:`~harness.analysis.compare.compare_pairs`; pairs may lack some of them."""
    by_metrics: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        shared = tuple(name for name in pair.metrics if name in metrics)
        if shared:
            by_metrics.setdefault(shared, []).append(pair)
    rows: list[tuple[Pair, Values]] = []
    for shared, members in by_metrics.items():
        rows += zip([pair for pair in members for _ in shared], compare_pairs(members, metrics=shared))
    return rows


def _is_additive(pairs: Sequence[Pair], label: str) -> bool:
    """Return True for a metric whose number is a function of sums over examples."""
    side = next(pair.one for pair in pairs if label in pair.metrics)
    entry = next((item for item in side.run.provenance.metrics if item.label == label), None)
    return entry is not None and isinstance(current().create("metrics", entry.name, entry.params), Additive)
