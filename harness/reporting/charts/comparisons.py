"""Paired comparisons for charts and tables: those that the run keeps, or new ones where they are cheap."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.compare import DRAWS, ComparedRun, Pair, adjusted, compare_pairs
from harness.analysis.comparison_store import StoredComparisons
from harness.contracts import Values
from harness.run.finished import Run

MAX_CELLS = 1_500_000
"""Largest number of tests (pairs of systems times metrics) times examples that is computed."""


@dataclass(frozen=True)
class Compared:
    """Comparisons of the systems of a run."""

    rows: Sequence[Values]
    """One per pair and metric, as :func:`harness.analysis.compare.compare_runs` returns them."""
    base: str = ""
    """Label of the system with which the others are compared; empty where all pairs are."""
    note: str = ""
    """Reason why there are no comparisons of all pairs; empty where there are."""


def compared_systems(run: Run) -> Compared:
    """Return the comparisons of all pairs of a run, of every system with the first one where all are too many, or none."""
    side = ComparedRun(run, name=str(run.path or ""))
    every = [Pair(side, a, side, b) for a, b in itertools.combinations(side.systems, 2)]
    every = [pair for pair in every if pair.metrics and pair.shares_examples]
    if not every:
        return Compared([])
    if _affordable(run, every):
        return Compared(adjusted(compare_pairs(every)))
    remedy = f"harness compare {run.path}" if run.path else "harness.compare"
    note = f"not all pairs of the {len(side.systems)} systems are compared: {remedy} computes and keeps them"
    base = side.label(side.systems[0])
    few = [pair for pair in every if pair.a is side.systems[0]]
    return (
        Compared(adjusted(compare_pairs(few)), base, note) if few and _affordable(run, few) else Compared([], note=note)
    )


def _affordable(run: Run, pairs: Sequence[Pair]) -> bool:
    """Return True where the comparisons of the pairs are few, or kept beside the run."""
    tests = sum(len(pair.metrics) for pair in pairs)
    examples = max(len(pair.a.rows) for pair in pairs)
    if tests * examples <= MAX_CELLS:
        return True
    return len(StoredComparisons.of([run], DRAWS, 0).rows) >= tests
