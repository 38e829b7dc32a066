"""Significance clusters of the systems of a group, from comparisons that are stored or cost little."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.analysis.clusters import BOLD_NOTE, rankings
from harness.analysis.compare import DRAWS, adjusted
from harness.analysis.comparison_budget import BUDGET, MAX_PAIRS, Affordable, affordable, compare_affordable
from harness.analysis.comparisons import LEVEL, Comparison
from harness.analysis.pairs import ComparedRun, Pair
from harness.reporting.metric_labels import shown_names
from harness.reporting.page.assets import DataBlock
from harness.reporting.page.groups import Group
from harness.rundir.samples import System


def system_key(run: int, model: str, decoding_key: str) -> str:
    """Return the name of a system within a group: number of the run, model, decoding as sorted JSON."""
    return f"{run}|{model}|{decoding_key}"


@dataclass(frozen=True)
class Clusters:
    """Letters of systems by metric: two systems that share a letter are not told apart."""

    letters: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    leading: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Metric -> systems whose values are marked (:attr:`~harness.analysis.clusters.RankedSystem.leads`)."""
    note: str = ""
    """Description of the tests."""
    warning: str = ""
    """Reason why there are no tests, with the remedy."""
    comparisons: Sequence[Comparison] = ()
    """Tests of the pairs, with the keys of the systems in place of their names."""

    def of(self, metric: str, key: str) -> str:
        """Return the letters of a system; empty without a ranking."""
        return self.letters.get(metric, {}).get(key, "")

    def pair_block(self, group: Group, name: str) -> DataBlock:
        """Return the tests for the script: metric, numbers of systems A and B, difference, two ends of its interval, p Holm.

        The difference is null for systems with sets of other sizes, whose numbers do not compare.
        """
        numbers = {_key(group, side, system): number for number, (side, system) in enumerate(group.systems)}
        rows = [
            (row.metric, numbers[row.system_a], numbers[row.system_b], None if row.sizes_differ else row.difference,
             *(row.ci95 or (None, None)), row.p_holm)
            for row in self.comparisons
            if row.difference is not None or row.sizes_differ
        ]  # fmt: skip
        return DataBlock.of_json(f"{name}-pairs", rows)


def clusters_of(group: Group, budget: float | None = BUDGET) -> Clusters:
    """Return the clusters of the metrics of a group whose tests are stored or within the budget; None: of all metrics."""
    count = len(group.systems) * (len(group.systems) - 1) // 2
    if budget is not None and count > MAX_PAIRS:
        return Clusters(
            warning=f"No significance clusters, and no value in bold: {len(group.systems)} systems are {count:,} pairs, more than "
            f"the {MAX_PAIRS:,} that a page compares; --compare compares them all the same."
        )
    pairs = [Pair(*first, *second) for first, second in itertools.combinations(group.systems, 2)]
    pairs = [pair for pair in pairs if pair.metrics and pair.shares_examples]
    if not pairs:
        return Clusters()
    plan = affordable(pairs, budget)
    compared = compare_affordable(pairs, plan.metrics)
    rows = adjusted([row for _, row in compared])
    entries = _with_keys(group, [pair for pair, _ in compared], rows)
    ranked = rankings(entries)
    letters = {metric: {system.system: system.letters for system in systems} for metric, systems in ranked.items()}
    leading = {metric: {system.system for system in systems if system.leads} for metric, systems in ranked.items()}
    note = (
        f"Cluster letters: systems that share a letter do not differ significantly (p Holm > {LEVEL:g}; approximate "
        f"randomisation, {DRAWS:,} draws); {BOLD_NOTE}."
    )
    return Clusters(letters, leading, note if letters else "", _postponed_note(group, plan), entries)


def _postponed_note(group: Group, plan: Affordable) -> str:
    """Return the warning about metrics without tests; empty where all are tested."""
    if not plan.postponed:
        return ""
    name = group.sides[0].name
    names = shown_names(record for _, record in group.records)
    remedy = (
        "write the report with --compare to compute them"
        if group.several_runs
        else f"'harness report {name} --compare' computes and keeps them"
    )
    return (
        f"No significance clusters, and no value in bold, for {', '.join(names[metric] for metric in plan.postponed)}: "
        f"{plan.missing:,} tests take too long for a page; {remedy}."
    )


def _with_keys(group: Group, compared: list[Pair], rows: list[Comparison]) -> list[Comparison]:
    """Return comparisons with the keys of the systems in place of their names."""
    return [
        replace(row, system_a=_key(group, pair.one, pair.a), system_b=_key(group, pair.other, pair.b)) for pair, row in zip(compared, rows)
    ]


def _key(group: Group, side: ComparedRun, system: System) -> str:
    """Return the key of a system of a run of the group."""
    number = next(k for k, member in enumerate(group.sides) if member is side)
    return system_key(number, system.model, system.decoding_key)
