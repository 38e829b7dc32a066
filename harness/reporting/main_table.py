"""The main table of a run for papers: systems by metrics, best values in bold with the
cluster of significance that they belong to.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.analysis.comparison_budget import BUDGET
from harness.analysis.comparisons import LEVEL
from harness.analysis.pairs import ComparedRun
from harness.analysis.rankings import BOLD_NOTE, rankings, unranked_notes
from harness.errors import counted
from harness.reporting.compared_systems import compared_systems
from harness.reporting.result_groups import (
    SIZE_NOTE,
    divided_metrics,
    full_row,
    group_records,
    system_names,
)
from harness.reporting.score_columns import ALL, SLICE_NOTE
from harness.reporting.table import Table, heading, number, shown_names, size_text
from harness.run.finished import Run
from harness.rundir.records import ResultRecord

DATA = (
    "metric",
    "higher_is_better",
    "system",
    "model",
    "decoding",
    "value",
    "ci_low",
    "ci_high",
    "p_value",
    "harmonic_p",
    "cluster",
    "n",
    "skipped",
    "candidates",
    "references",
)
"""Columns of the CSV, a row per result."""
MOST_COLUMNS = 8
"""Number of metrics beyond which metrics are rows, where there are fewer systems."""
Key: TypeAlias = tuple[str, str, str]
"""Metric, model and decoding key of a value."""


def main_table(run: Run, clusters: RunClusters | None = None) -> Table:
    """Return the results of a run: a row per system and a column per metric, or the
    other way round for many metrics.

    Values in bold belong to the cluster of the best value; marks are the letters of the
    clusters (default: :func:`clusters_of_run`). The CSV has a row per result, numbers
    in full.
    """
    clusters = clusters or clusters_of_run(run)
    letters = clusters.letters
    names = system_names(run.records)
    groups = group_records(run.records)
    divided = divided_metrics(groups)
    heads = _heads(run, groups, divided)
    cells: dict[tuple[str, str], ResultRecord] = {
        (names[record.model, record.decoding_key], head): record
        for head, group in zip(heads, groups)
        for record in group
    }

    # many metrics are rows, where that makes the table narrower
    systems = list(dict.fromkeys(names.values()))
    turned = len(heads) > MOST_COLUMNS and len(systems) < len(heads)
    down, across = (heads, systems) if turned else (systems, heads)
    lines = [
        [cells.get((column, row) if turned else (row, column)) for column in across]
        for row in down
    ]
    rows = [
        [row, *("" if record is None else number(record.value) for record in line)]
        for row, line in zip(down, lines)
    ]
    keys = {
        (i, j): record_key(record)
        for i, line in enumerate(lines)
        for j, record in enumerate(line, 1)
        if record is not None
    }

    counts = {record.n + record.skipped for record in run.records}
    several = "" if len(counts) > 1 else f", {counted(max(counts), 'example')}"
    return Table(
        headers=["metric" if turned else "system", *across],
        rows=rows,
        alignment="l" + "r" * len(across),
        title=f"{run.provenance.task}{several}",
        notes=[*size_notes(run.records, divided), *clusters.notes],
        bold=frozenset(cell for cell, key in keys.items() if key in clusters.leading),
        marks={cell: letters[key] for cell, key in keys.items() if key in letters},
        data=[DATA, *(_data(record, names, letters) for record in run.records)],
    )


def size_notes(records: Sequence[ResultRecord], divided: Collection[str]) -> list[str]:
    """Return the line on metrics whose values compare within one set size only;
    none without such metrics.
    """
    if not divided:
        return []
    names = shown_names(records)
    return [f"{', '.join(names[metric] for metric in divided)}: {SIZE_NOTE}"]


def wide_table(run: Run, clusters: RunClusters | None = None) -> Table:
    """Return the results of a run with a row per system, and per slice where the run
    has some, and a column per metric, however many.

    Values in bold are those of :func:`main_table`, of all examples. The CSV has the
    same rows and columns, numbers in full, under the code labels of the metrics.
    """
    clusters = clusters or clusters_of_run(run)
    records = [*run.records, *run.slices]
    names = system_names(records)
    groups = group_records(run.records)
    divided = divided_metrics(groups)
    heads = _heads(run, groups, divided)
    codes = [_code(group[0], group[0].metric in divided) for group in groups]
    columns = [(group[0].metric, group[0].compared_sizes) for group in groups]

    # The sizes of a slice may be fewer than those of all examples: its records stand in
    # the columns of these.
    places = {
        (r.model, r.decoding_key, r.metric): (r.metric, r.compared_sizes)
        for r in run.records
    }
    cells = {}
    for record in records:
        column = places[record.model, record.decoding_key, record.metric]
        cells[record.slice, record.model, record.decoding_key, column] = record

    lead = ["slice", "system"] if run.slices else ["system"]
    rows: list[list[str]] = []
    data: list[list[object]] = [[*lead, *codes]]
    bold: set[tuple[int, int]] = set()
    for part in dict.fromkeys(record.slice for record in records):
        for system, name in names.items():
            title = [part or ALL, name] if run.slices else [name]
            line = [cells.get((part, *system, column)) for column in columns]
            # values of slices are not compared, so none of them is bold
            for k, record in enumerate(line, len(lead)):
                if part is None and record and record_key(record) in clusters.leading:
                    bold.add((len(rows), k))
            rows.append([*title, *map(_shown_value, line)])
            data.append([*title, *map(_full_value, line)])

    counts = {record.n + record.skipped for record in run.records}
    starts = range(0, len(rows), len(names)) if run.slices else ()
    return Table(
        headers=[*lead, *heads],
        rows=rows,
        alignment="l" * len(lead) + "r" * len(columns),
        title=", ".join(counted(count, "example") for count in sorted(counts)),
        notes=[*([SLICE_NOTE] if run.slices else []), *clusters.bold_notes],
        bold=frozenset(bold),
        groups=frozenset(starts),
        data=data,
    )


def _shown_value(record: ResultRecord | None) -> str:
    return "" if record is None else number(record.value)


def _full_value(record: ResultRecord | None) -> float | str:
    if record is None or math.isnan(record.value):
        return ""
    return record.value


def _heads(
    run: Run, groups: Sequence[Sequence[ResultRecord]], divided: Collection[str]
) -> list[str]:
    """Return the heads of the columns, one per group of records."""
    names = shown_names(run.records)
    return [
        _head(group[0], names[group[0].metric], group[0].metric in divided)
        for group in groups
    ]


def _code(record: ResultRecord, divided: bool) -> str:
    return f"{record.metric} ({size_text(record.sizes)})" if divided else record.metric


def _head(record: ResultRecord, name: str, divided: bool) -> str:
    size = f" ({size_text(record.sizes)})" if divided else ""
    return heading(name, record.higher_is_better) + size


def record_key(record: ResultRecord) -> Key:
    """Return the key of a record's value."""
    return record.metric, record.model, record.decoding_key


@dataclass(frozen=True)
class RunClusters:
    """Clusters of the systems of a run by metric."""

    letters: Mapping[Key, str] = field(default_factory=dict[Key, str])
    leading: Collection[Key] = ()
    """Values that are bold (:attr:`~harness.analysis.rankings.RankedSystem.leads`).
    """
    notes: Sequence[str] = ()
    """Lines that explain letters and bold values, or say why there are none."""
    bold_notes: Sequence[str] = ()
    """The same for tables without letters."""


def clusters_of_run(run: Run, budget: float = BUDGET) -> RunClusters:
    """Return the clusters by metric, from tests that are stored or within the budget in
    seconds.
    """
    compared = compared_systems(run, budget, all_pairs_only=True)
    if not compared.rows:
        notes = [f"no value is bold: {compared.note}"] if compared.note else []
        return RunClusters(notes=notes, bold_notes=notes)

    ranked = rankings(compared.rows)
    side = ComparedRun(run)
    keys = {
        side.label(system): (system.model, system.decoding_key)
        for system in side.systems
    }
    places = {
        (metric, *keys[item.system]): item
        for metric, systems in ranked.items()
        for item in systems
    }
    names = shown_names(compared.rows)

    notes: list[str] = []
    remarks: list[str] = []
    if ranked:
        draws = max(row.draws for row in compared.rows)
        notes.append(
            "values of a metric that share a letter do not differ significantly "
            f"(approximate randomisation, {draws:,} draws, p by Holm > {LEVEL})"
        )
        remarks.append(BOLD_NOTE)
    if compared.note:
        remarks.append(f"not in bold: {compared.note}")
    untested = [name for metric, name in names.items() if metric not in ranked]
    if untested:
        remarks.append(
            "no direction, no test or several set sizes, therefore not in bold: "
            f"{', '.join(untested)}"
        )

    return RunClusters(
        {key: item.letters for key, item in places.items()},
        {key for key, item in places.items() if item.leads},
        [*notes, *unranked_notes(compared.rows, names), *remarks],
        remarks,
    )


def _data(
    record: ResultRecord,
    names: Mapping[tuple[str, str], str],
    letters: Mapping[Key, str],
) -> list[object]:
    """Return the row of a record in the CSV."""
    row = full_row(record)
    row["system"] = names[record.model, record.decoding_key]
    row["cluster"] = letters.get(record_key(record), "")
    row["decoding"] = ""
    if record.decoding:
        row["decoding"] = json.dumps(dict(record.decoding), sort_keys=True)
    for name in ("candidates", "references"):
        row[name] = "-".join(map(str, (record.sizes or {}).get(name, ())))

    # NaN, which differs from itself, is an empty cell
    return [
        "" if row[name] is None or row[name] != row[name] else row[name]
        for name in DATA
    ]
