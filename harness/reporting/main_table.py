"""The main table of a run for papers: systems by metrics, best values in bold with the cluster of significance that they belong to."""

from __future__ import annotations

import json
from collections.abc import Mapping

from harness.analysis.clusters import rankings
from harness.analysis.comparisons import LEVEL
from harness.reporting.captions import system_heads
from harness.reporting.charts.comparisons import compared_systems
from harness.reporting.result_groups import divided_metrics, full_row, group_records, system_names
from harness.reporting.table import Table, heading, number, size_text
from harness.run.finished import Run
from harness.rundir.records import ResultRecord

DATA = (
    "metric", "higher_is_better", "system", "model", "decoding", "value", "ci_low", "ci_high", "p_value", "harmonic_p", "cluster", "n",
    "skipped", "candidates", "references",
)  # fmt: skip
"""Columns of the CSV, a row per result."""
MOST_COLUMNS = 8
"""Number of metrics beyond which metrics are rows, where there are fewer systems."""
Letters = Mapping[tuple[str, str], str]
"""(metric, label of a system) -> letters of its clusters."""


def main_table(run: Run) -> Table:
    """Return the results of a run: a row per system and a column per metric, or the other way round for many metrics.

    Values in bold belong to the cluster of the best value; marks are the letters of the clusters. The CSV has a row per result, numbers
    in full.
    """
    letters, notes = cluster_letters_of(run)
    names = system_names(run.records)
    labels = system_labels(run)
    groups = group_records(run.records)
    divided = divided_metrics(groups)
    heads = [_head(group[0], group[0].metric in divided) for group in groups]
    cells: dict[tuple[str, str], ResultRecord] = {
        (names[record.model, record.decoding_key], head): record
        for head, group in zip(heads, groups)
        for record in group
    }
    systems = list(dict.fromkeys(names.values()))
    turned = len(heads) > MOST_COLUMNS and len(systems) < len(heads)
    down, across = (heads, systems) if turned else (systems, heads)
    rows: list[list[str]] = []
    bold: set[tuple[int, int]] = set()
    marks: dict[tuple[int, int], str] = {}
    for i, row in enumerate(down):
        line = [row]
        for j, column in enumerate(across, 1):
            record = cells.get((column, row) if turned else (row, column))
            line.append("" if record is None else number(record.value))
            cluster = (
                ""
                if record is None
                else letters.get((record.metric, labels.get((record.model, record.decoding_key), "")), "")
            )
            marks |= {(i, j): cluster} if cluster else {}
            bold |= {(i, j)} if cluster.startswith("a") and not cluster[1:2].isdigit() else set()
        rows.append(line)
    several = (
        ""
        if len({r.n + r.skipped for r in run.records}) > 1
        else f", {run.records[0].n + run.records[0].skipped} examples"
    )
    return Table(
        headers=["metric" if turned else "system", *across], rows=rows, alignment="l" + "r" * len(across),
        title=f"{run.provenance.task}{several}", notes=notes, bold=frozenset(bold), marks=marks,
        data=[DATA, *(_data(record, names, labels, letters) for record in run.records)],
    )  # fmt: skip


def _head(record: ResultRecord, divided: bool) -> str:
    size = f" ({size_text(record.sizes)})" if divided else ""
    return heading(record.metric, record.higher_is_better) + size


def system_labels(run: Run) -> dict[tuple[str, str], str]:
    """Return (model, decoding key) -> label of the system in comparisons."""
    systems = run.samples.systems
    return {(s.model, s.decoding_key): head for s, head in zip(systems, system_heads(systems))}


def cluster_letters_of(run: Run) -> tuple[Letters, list[str]]:
    """Return the letters of the systems' clusters by metric, and notes that explain them or say why there are none."""
    compared = compared_systems(run)
    if compared.base or not compared.rows:
        return {}, [f"no value is marked as best: {compared.note}"] if compared.note else []
    ranked = rankings(compared.rows)
    letters = {(metric, system.system): system.letters for metric, systems in ranked.items() for system in systems}
    metrics = list(dict.fromkeys(row.metric for row in compared.rows))
    untested = [metric for metric in metrics if metric not in ranked]
    notes: list[str] = []
    if ranked:
        draws = max(row.draws for row in compared.rows)
        notes.append(
            "values of a metric that share a letter do not differ significantly "
            f"(approximate randomisation, {draws:,} draws, p by Holm > {LEVEL}); those in bold do not differ from the best one"
        )
    if compared.note:
        notes.append(f"not marked: {compared.note}")
    if untested:
        notes.append(f"no direction, no test or several set sizes, therefore not marked: {', '.join(untested)}")
    return letters, notes


def _data(
    record: ResultRecord, names: Mapping[tuple[str, str], str], labels: Mapping[tuple[str, str], str], letters: Letters
) -> list[object]:
    """Return the row of a record in the CSV."""
    key = record.model, record.decoding_key
    row = full_row(record) | {
        "system": names[key], "cluster": letters.get((record.metric, labels.get(key, "")), ""),
        "decoding": json.dumps(dict(record.decoding), sort_keys=True) if record.decoding else "",
        **{name: "-".join(map(str, (record.sizes or {}).get(name, ()))) for name in ("candidates", "references")},
    }  # fmt: skip
    return ["" if row[name] is None or row[name] != row[name] else row[name] for name in DATA]
