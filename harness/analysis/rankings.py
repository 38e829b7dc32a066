"""Rankings of the systems of a metric from their comparisons: significance clusters,
wins and losses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.comparisons import LEVEL, Comparison
from harness.stats.multiplicity import cluster_letters

BOLD_NOTE = (
    "bold: the best value of a metric and those that do not differ significantly "
    f"from it (p Holm > {LEVEL:g}), where they compare"
)
"""The rule of :attr:`RankedSystem.leads`, for the note below a table."""


@dataclass(frozen=True)
class RankedSystem:
    """One system of a metric's ranking."""

    system: str
    value: float
    letters: str
    """Systems of the metric that share a letter are not told apart."""
    wins: int
    """Pairs of this metric in which the system is significantly better."""
    losses: int
    leads: bool = False
    """True for the best system and for all that are not significantly worse:
    the values in bold.
    """


def rankings(rows: Sequence[Comparison]) -> dict[str, list[RankedSystem]]:
    """Return metric -> systems from the best value,
    with significance clusters at p_holm <= 0.05.

    Systems whose numbers do not compare (:attr:`Comparison.sizes_differ`) are ranked in
    separate groups, one after the other. Metrics without a direction, and groups of
    which some pair is not tested, have no ranking: their clusters would be incomplete.
    """
    by_metric: dict[str, list[Comparison]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)

    ranked: dict[str, list[RankedSystem]] = {}
    for metric, metric_rows in by_metric.items():
        for group in _comparable_groups(metric_rows):
            if systems := _rank(group):
                ranked.setdefault(metric, []).extend(systems)
    return ranked


def unranked_notes(rows: Sequence[Comparison], names: Mapping[str, str]) -> list[str]:
    """Return a line per system that some ranked metrics leave out, for its numbers
    compare with those of no other system.

    Parameters
    ----------
    rows : sequence of Comparison
        Comparisons with adjusted p-values.
    names : mapping
        Metric -> its name for people.
    """
    ranked = rankings(rows)
    left_out: dict[str, dict[str, None]] = {}
    for row in rows:
        placed = {item.system for item in ranked.get(row.metric, ())}
        for system in (row.system_a, row.system_b):
            if row.sizes_differ and placed and system not in placed:
                left_out.setdefault(system, {})[names[row.metric]] = None

    return [
        f"no letter for {system} in {', '.join(metrics)}: "
        "no other system has its set size or state, so the numbers do not compare "
        "(harness compare --equalise compares subsets of equal size)"
        for system, metrics in left_out.items()
    ]


def _comparable_groups(rows: Sequence[Comparison]) -> list[list[Comparison]]:
    """Return the rows of each group of systems whose numbers compare; a system that
    compares with no other has no group.
    """
    groups: list[set[str]] = []
    for row in rows:
        if row.sizes_differ:
            continue
        pair = {row.system_a, row.system_b}
        joined = [group for group in groups if group & pair]
        apart = [group for group in groups if not group & pair]
        groups = [*apart, pair.union(*joined)]
    return [
        [row for row in rows if row.system_a in group and row.system_b in group]
        for group in groups
    ]


def _rank(rows: Sequence[Comparison]) -> list[RankedSystem]:
    """Return the systems of a group from the best; none where a pair is not tested or
    is missing.
    """
    larger_is_better = rows[0].higher_is_better
    if larger_is_better is None:
        return []
    values: dict[str, float] = {}
    for row in rows:
        if row.p_holm is None or row.sizes_differ or row.a is None or row.b is None:
            return []
        values[row.system_a] = row.a
        values[row.system_b] = row.b
    if len(rows) != len(values) * (len(values) - 1) // 2:
        return []

    sign = -1 if larger_is_better else 1
    order = sorted(values, key=lambda name: sign * values[name])
    rank = {name: index for index, name in enumerate(order)}
    apart = [row for row in rows if row.p_holm is not None and row.p_holm <= LEVEL]
    different = {(rank[row.system_a], rank[row.system_b]) for row in apart}
    worse = {index for pair in different if 0 in pair for index in pair} - {0}
    letters = cluster_letters(len(order), different)

    winners = [
        row.system_a if row.better == "A" else row.system_b
        for row in apart
        if row.better in ("A", "B")
    ]
    losers = [
        row.system_b if row.better == "A" else row.system_a
        for row in apart
        if row.better in ("A", "B")
    ]
    return [
        RankedSystem(
            name,
            values[name],
            letters[index],
            winners.count(name),
            losers.count(name),
            index not in worse,
        )
        for index, name in enumerate(order)
    ]
