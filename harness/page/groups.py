"""Groups of runs whose numbers compare: one matrix and one list of examples each;
significance clusters of their systems.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath

from harness.analysis.compare import DRAWS, adjusted
from harness.analysis.comparison_budget import (
    BUDGET,
    MAX_PAIRS,
    Affordable,
    affordable,
    compare_affordable,
)
from harness.analysis.comparisons import LEVEL
from harness.analysis.pairs import Pair, RecordPair, differences_of_runs
from harness.analysis.rankings import BOLD_NOTE, rankings, unranked_notes
from harness.errors import InputError
from harness.page.assets import DataBlock
from harness.reporting.table import shown_names
from harness.results import ComparedRun, Comparison, ResultRecord, Run, System

MOST_LABELS = 4
"""Number of systems that a title names."""


@dataclass(frozen=True)
class Group:
    """Runs of the same data, metric signatures and numbers of references;
    or a single run.
    """

    sides: tuple[ComparedRun, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs, in the order of the command."""
        return tuple(side.run for side in self.sides)

    @property
    def title(self) -> str:
        """Names of the tasks; of files that ``harness score`` read,
        the labels of the systems.
        """
        titles = (title for run in self.runs for title in _titles(run))
        return ", ".join(dict.fromkeys(titles))

    @property
    def several_runs(self) -> bool:
        """True for a group of two runs or more."""
        return len(self.sides) > 1

    @cached_property
    def systems(self) -> tuple[tuple[ComparedRun, System], ...]:
        """Systems of all runs."""
        return tuple((side, system) for side in self.sides for system in side.systems)

    @cached_property
    def records(self) -> tuple[tuple[int, ResultRecord], ...]:
        """Number of the run and record, for all records."""
        return tuple(
            (number, record)
            for number, run in enumerate(self.runs)
            for record in run.records
        )

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Labels of the metrics, in the order of the runs."""
        return tuple(dict.fromkeys(record.metric for _, record in self.records))


def _titles(run: Run) -> Sequence[str]:
    """Return the names for the title of a page: the task, or the labels where the task
    is named by the files of the systems alone.
    """
    task = run.provenance.task or "suite"
    models = run.provenance.models
    paths = dict.fromkeys(str(model.params.get("path", "")) for model in models)
    if task != f"score {', '.join(PurePath(path).name for path in paths)}":
        return [task]

    labels = [model.label for model in models]
    more = len(labels) - MOST_LABELS
    if more <= 1:
        return labels
    return [*labels[:MOST_LABELS], f"{more} more systems"]


def groups_of(runs: Sequence[tuple[str, Run]]) -> list[Group]:
    """Return the groups of named runs; a run joins the first group whose runs it
    compares with, a run of judgments none.

    Parameters
    ----------
    runs : sequence of (str, Run)
        Names (paths) and runs.

    Raises
    ------
    InputError
        There are runs of both kinds.
    """
    models = [name for name, run in runs if not run.provenance.kind]
    if 0 < len(models) < len(runs):
        raise InputError(
            "is a run of models; one page shows runs of judgments or runs of models, "
            "not both",
            models[0],
        )

    groups: list[list[ComparedRun]] = []
    for name, run in runs:
        side = ComparedRun(run, name=name)
        for group in groups:
            if models and all(not _differences(member, side) for member in group):
                group.append(side)
                break
        else:
            groups.append([side])
    return [Group(tuple(group)) for group in groups]


def _differences(left: ComparedRun, right: ComparedRun) -> list[str]:
    """Return the differences that make the numbers of two runs incomparable."""
    records_by_metric: dict[str, list[ResultRecord]] = {}
    for record in right.run.records:
        records_by_metric.setdefault(record.metric, []).append(record)
    pairs: list[RecordPair] = [
        (x, y) for x in left.run.records for y in records_by_metric.get(x.metric, ())
    ]
    if not pairs:
        return ["no common metric"]

    # numbers of other references differ for that reason alone
    comparable = [(x, y) for x, y in pairs if _references(x) == _references(y)]
    return differences_of_runs(
        [left.run, right.run], [left.name, right.name], comparable or pairs
    )


def _references(record: ResultRecord) -> object:
    """Return the numbers of references of a record."""
    return (record.sizes or {}).get("references")


def system_key(run: int, model: str, decoding_key: str) -> str:
    """Return the name of a system within a group: number of the run, model,
    decoding as sorted JSON.
    """
    return f"{run}|{model}|{decoding_key}"


@dataclass(frozen=True)
class Clusters:
    """Letters of systems by metric: two systems that share a letter are not told
    apart.
    """

    letters: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]]
    )
    leading: Mapping[str, Collection[str]] = field(
        default_factory=dict[str, Collection[str]]
    )
    """Metric -> systems whose values are marked
    (:attr:`~harness.analysis.rankings.RankedSystem.leads`).
    """
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
        """Return the tests for the script: metric, numbers of systems A and B,
        difference, two ends of its interval, p Holm.

        The difference is null for systems with sets of other sizes, whose numbers do
        not compare.
        """
        numbers = {
            _key(group, side, system): number
            for number, (side, system) in enumerate(group.systems)
        }
        rows = [
            (
                row.metric,
                numbers[row.system_a],
                numbers[row.system_b],
                None if row.sizes_differ else row.difference,
                *(row.ci95 or (None, None)),
                row.p_holm,
            )
            for row in self.comparisons
            if row.difference is not None or row.sizes_differ
        ]
        return DataBlock.of_json(f"{name}-pairs", rows)


def clusters_of(group: Group, budget: float | None = BUDGET) -> Clusters:
    """Return the clusters of the metrics of a group whose tests are stored or within
    the budget; None: of all metrics.
    """
    count = len(group.systems) * (len(group.systems) - 1) // 2
    if budget is not None and count > MAX_PAIRS:
        return Clusters(
            warning="No significance clusters, and no value in bold: "
            f"{len(group.systems)} systems are {count:,} pairs, more than "
            f"the {MAX_PAIRS:,} that a page compares; "
            "'harness report --compare' compares them all the same."
        )

    pairs = [
        Pair(*first, *second)
        for first, second in itertools.combinations(group.systems, 2)
    ]
    pairs = [pair for pair in pairs if pair.metrics and pair.shares_examples]
    if not pairs:
        return Clusters()

    plan = affordable(pairs, budget)
    compared = compare_affordable(pairs, plan.metrics)
    rows = adjusted([row for _, row in compared])
    entries = [
        replace(
            row,
            system_a=_key(group, pair.one, pair.a),
            system_b=_key(group, pair.other, pair.b),
        )
        for (pair, _), row in zip(compared, rows)
    ]

    ranked = rankings(entries)
    letters = {
        metric: {system.system: system.letters for system in systems}
        for metric, systems in ranked.items()
    }
    leading = {
        metric: {system.system for system in systems if system.leads}
        for metric, systems in ranked.items()
    }
    note = _cluster_note(group, entries) if letters else ""
    return Clusters(letters, leading, note, _postponed_note(group, plan), entries)


def _cluster_note(group: Group, entries: Sequence[Comparison]) -> str:
    """Return the description of the tests, and of metrics without a ranking."""
    labels = {
        _key(group, side, system): side.label(system) for side, system in group.systems
    }
    # remarks name the systems by their labels
    labelled = [
        replace(row, system_a=labels[row.system_a], system_b=labels[row.system_b])
        for row in entries
    ]
    unranked = "".join(
        f" {text[:1].upper()}{text[1:]}."
        for text in unranked_notes(labelled, shown_names(labelled))
    )
    return (
        "Cluster letters: systems that share a letter do not differ significantly "
        f"(p Holm > {LEVEL:g}; approximate randomisation, {DRAWS:,} draws); "
        f"{BOLD_NOTE}.{unranked}"
    )


def _postponed_note(group: Group, plan: Affordable) -> str:
    """Return the warning about metrics without tests; empty where all are tested."""
    if not plan.postponed:
        return ""

    # tests of two runs are kept in neither of them
    name = group.sides[0].name
    remedy = (
        "'harness report --compare' computes them"
        if group.several_runs
        else f"'harness report {name} --compare' computes and keeps them"
    )
    names = shown_names(record for _, record in group.records)
    metrics = ", ".join(names[metric] for metric in plan.postponed)
    return (
        f"No significance clusters, and no value in bold, for {metrics}: "
        f"{plan.missing:,} tests take too long for a page; {remedy}."
    )


def _key(group: Group, side: ComparedRun, system: System) -> str:
    """Return the key of a system of a run of the group."""
    number = next(k for k, member in enumerate(group.sides) if member is side)
    return system_key(number, system.model, system.decoding_key)
