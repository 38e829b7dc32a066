"""Comparisons of the systems of a finished run: all pairs where they are affordable."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.compare import adjusted
from harness.analysis.comparison_budget import (
    BUDGET,
    MAX_PAIRS,
    Affordable,
    affordable,
    compare_affordable,
)
from harness.analysis.comparisons import Comparison
from harness.analysis.pairs import ComparedRun, Pair
from harness.reporting.table import shown_names
from harness.run.finished import Run


@dataclass(frozen=True)
class Compared:
    """Comparisons of the systems of a run."""

    rows: Sequence[Comparison]
    """One per pair and metric, as :func:`harness.compare` returns them."""
    base: str = ""
    """Label of the system with which the others are compared;
    empty where all pairs are.
    """
    note: str = ""
    """Names the metrics without comparisons of all pairs, with the remedy;
    empty where there are none.
    """


def compared_systems(
    run: Run, budget: float | None = BUDGET, all_pairs_only: bool = False
) -> Compared:
    """Return the comparisons of all pairs of a run in the metrics whose tests are
    stored or cheap.

    Where no metric is, every system is compared with the first one, or with
    ``all_pairs_only`` none.
    """
    side = ComparedRun(run, name=str(run.path or ""))
    program = f"harness compare {run.path}" if run.path else "harness.compare"
    remedy = f"{program} computes and keeps them"
    # Two choices, the better one first: all pairs, in those metrics whose tests are
    # stored or cheap; else every system against the first one, whose tests are fewer by
    # half the number of systems.
    few = _comparable(
        [Pair(side, side.systems[0], side, system) for system in side.systems[1:]]
    )
    if math.comb(len(side.systems), 2) <= MAX_PAIRS:
        all_pairs = _comparable(
            [Pair(side, a, side, b) for a, b in itertools.combinations(side.systems, 2)]
        )
        if not all_pairs:
            return Compared([])
        plan = affordable(all_pairs, budget)
        if plan.metrics:
            names = shown_names(run.records)
            missing = ", ".join(names[metric] for metric in plan.postponed)
            note = f"not compared: {missing}; {remedy}" if missing else ""
            return Compared(_rows(all_pairs, plan), note=note)

    note = f"not all pairs of the {len(side.systems)} systems are compared; {remedy}"
    rows = _rows(few, affordable(few, budget)) if few and not all_pairs_only else []
    if not rows:
        return Compared([], note=note)
    return Compared(rows, side.label(side.systems[0]), note)


def _comparable(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs that share metrics and examples."""
    return [pair for pair in pairs if pair.metrics and pair.shares_examples]


def _rows(pairs: Sequence[Pair], plan: Affordable) -> list[Comparison]:
    """Return the adjusted rows of the metrics that are stored or within the budget."""
    return adjusted([row for _, row in compare_affordable(pairs, plan.metrics)])
