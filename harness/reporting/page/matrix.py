"""The matrix of the overview: a row per model and decoding, a column per metric,
grouped by the question that the metric answers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.registry import current
from harness.registry.manifest_schema import Entry
from harness.reporting.page.groups import Clusters, Group, system_key
from harness.reporting.result_groups import (
    decoding_labels,
    divided_metrics,
    full_row,
    group_records,
    swept_fields,
)
from harness.reporting.table import (
    interval_text,
    number,
    p_text,
    shown_name,
    shown_names,
    size_text,
)
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord, decoding_text

OTHER = "Other"
"""Heading of the metrics without a question."""
SCALES = ("people", "floor")
"""Roles of adapters whose rows are the ends of the scale: held-out people,
and captions of other examples.
"""


@dataclass(frozen=True)
class Column:
    """One metric."""

    metric: str
    name: str
    """Name of the metric for people."""
    question: str
    summary: str
    signature: str
    higher_is_better: bool | None
    has_p: bool


@dataclass(frozen=True)
class Cell:
    """One value with its place on the scale of its column."""

    record: ResultRecord
    letters: str
    best: bool
    low: float
    """Left end of the interval, in per cent of the range of the column."""
    width: float
    dot: float
    ticks: Mapping[str, float]
    """Role -> place of its value, in per cent."""
    share: float | None
    """Share of the way from the floor to people; None without both."""

    @property
    def placed(self) -> bool:
        """True for a value with a place on the scale."""
        return math.isfinite(self.record.value)

    @property
    def share_text(self) -> str:
        """The share in per cent; empty without one."""
        return "" if self.share is None else f"{round(100 * self.share)} %"

    @property
    def hint(self) -> str:
        """Text of the tooltip: interval, p-values, counts."""
        record = self.record
        texts = [f"{shown_name(record)} {number(record.value)}"]
        if record.ci95:
            texts.append(
                f"95 % interval {interval_text(record.ci95)}"
                + (f" ({note})" if (note := record.interval_note) else "")
            )
        elif record.interval_note:
            texts.append(f"no interval: {record.interval_note}")
        if record.p_value is not None:
            texts.append(
                f"p {p_text(record.p_value)}"
                + (f" ({record.p_method})" if record.p_method else "")
            )
        elif record.p_note:
            texts.append(f"no p-value: the metric {record.p_note}")
        if record.harmonic_p is not None:
            texts.append(f"harmonic p {number(record.harmonic_p)}")
        texts.append(
            f"{record.n} examples"
            + (f", {record.skipped} without a score" if record.skipped else "")
        )
        if self.share is not None:
            texts.append(
                f"{self.share_text} of the way from shuffled captions to people"
            )
        if self.letters:
            texts.append(f"cluster {self.letters}")
        return " · ".join(texts)


@dataclass(frozen=True)
class Row:
    """One model under one decoding."""

    key: str
    model: str
    run: str
    decoding: str
    sizes: str
    role: str
    cells: tuple[Cell | None, ...]
    """One entry per column of the matrix; None where the metric has no result."""


@dataclass(frozen=True)
class Facet:
    """Rows whose values compare: one set size where the run has several and a metric
    depends on it.
    """

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Matrix:
    """Columns, and rows in facets."""

    title: str
    columns: tuple[Column, ...]
    facets: tuple[Facet, ...]
    has_runs: bool
    has_decodings: bool
    has_sizes: bool
    clusters: Clusters
    decodings: Mapping[tuple[int, str], str]
    """Number of the run and decoding key -> what tells the decoding apart from the
    others of the group.
    """

    @property
    def questions(self) -> list[tuple[str, int]]:
        """Heads of the column groups with their numbers of columns."""
        return list(Counter(column.question for column in self.columns).items())

    @property
    def has_questions(self) -> bool:
        """True when some metric has a question."""
        return any(column.question != OTHER for column in self.columns)

    @property
    def has_ticks(self) -> bool:
        """True when some column has the value of people or of the floor on its
        scale.
        """
        return any(
            cell is not None and cell.ticks for row in self.rows for cell in row.cells
        )

    @property
    def has_p(self) -> bool:
        """True when some value has a p-value."""
        return any(column.has_p for column in self.columns)

    @property
    def rows(self) -> list[Row]:
        """Rows of all facets."""
        return [row for facet in self.facets for row in facet.rows]


def matrix_of(group: Group, clusters: Clusters) -> Matrix:
    """Return the matrix of a group."""
    columns = _columns(group)
    systems = _systems(group)
    roles = _roles(group)
    sizes = {key: _sizes(records.values()) for key, records in systems.items()}
    decodings = _decoding_labels(group)
    sized = [record for _, record in group.records if record.level in ("set", "corpus")]
    divided = bool(divided_metrics(group_records(sized)))
    facets: list[Facet] = []
    for title in dict.fromkeys(sizes.values()) if divided else [""]:
        members = {
            key: records
            for key, records in systems.items()
            if not divided or sizes[key] == title
        }
        cells = {
            column.metric: _cells(column, members, roles, clusters)
            for column in columns
        }
        rows = tuple(
            Row(
                key,
                key.split("|", 1)[1].rsplit("|", 1)[0],
                group.sides[int(key.split("|", 1)[0])].name,
                decodings[int(key.split("|", 1)[0]), key.rsplit("|", 1)[1]],
                sizes[key],
                roles.get(key, ""),
                tuple(cells[column.metric].get(key) for column in columns),
            )
            for key, records in members.items()
        )
        facets.append(
            Facet(
                f"sets of {title} (candidates + references)"
                if divided and title
                else "",
                rows,
            )
        )
    rows = [row for facet in facets for row in facet.rows]
    return Matrix(
        title=group.title,
        columns=columns,
        facets=tuple(facets),
        has_runs=group.several_runs,
        has_decodings=len({row.decoding for row in rows}) > 1,
        has_sizes=len({row.sizes for row in rows}) > 1 and not divided,
        clusters=clusters,
        decodings=decodings,
    )


def _columns(group: Group) -> tuple[Column, ...]:
    """Return the columns, ordered by the questions of the registry."""
    entries = {
        metric: _entry(group.runs[index].provenance, record)
        for index, record in group.records
        for metric in [record.metric]
    }
    ordered = dict.fromkeys(
        entry.question for manifest in current().manifests for entry in manifest.entries
    )
    ranks = {
        question: rank
        for rank, question in enumerate(question for question in ordered if question)
    }
    first = {record.metric: record for _, record in reversed(group.records)}
    tested = {
        record.metric for _, record in group.records if record.p_value is not None
    }
    names = shown_names(record for _, record in group.records)
    columns: list[Column] = []
    for metric in group.metrics:
        entry = entries[metric]
        record = first[metric]
        question, summary = (
            ((entry.question or OTHER), entry.summary) if entry else (OTHER, "")
        )
        columns.append(
            Column(
                metric,
                names[metric],
                question,
                summary,
                record.signature,
                record.higher_is_better,
                metric in tested,
            )
        )
    return tuple(
        sorted(columns, key=lambda column: ranks.get(column.question, len(ranks)))
    )


def _entry(provenance: Provenance, record: ResultRecord) -> Entry | None:
    """Return the registry entry of the metric of a record;
    None where this installation has none.
    """
    for metric in provenance.metrics:
        if record.metric == metric.label or record.signature == metric.signature:
            return next(iter(current().match_entries("metrics", metric.name)), None)
    return None


def _systems(group: Group) -> dict[str, dict[str, ResultRecord]]:
    """Return system -> metric -> record; results of token scores, which have no
    decoding, join the first system of their model.
    """
    systems: dict[str, dict[str, ResultRecord]] = {}
    for index, record in sorted(
        group.records, key=lambda item: item[1].level == "model"
    ):
        key = system_key(index, record.model, record.decoding_key)
        if record.level == "model":
            key = next(
                (
                    name
                    for name in systems
                    if name.startswith(f"{index}|{record.model}|")
                ),
                key,
            )
        systems.setdefault(key, {})[record.metric] = record
    return systems


def _roles(group: Group) -> dict[str, str]:
    """Return system -> role, for the first system of each role and decoding in each
    run.
    """
    names = {
        role: {entry.name for entry in current().all_with_role("adapters", role)}
        for role in SCALES
    }
    roles: dict[str, str] = {}
    for index, run in enumerate(group.runs):
        adapters = {
            model.label: model.adapter.removeprefix("harness/")
            for model in run.provenance.models
        }
        for record in run.records:
            for role in SCALES:
                if adapters.get(record.model) in names[role]:
                    roles[system_key(index, record.model, record.decoding_key)] = role
    return roles


def _cells(
    column: Column,
    systems: Mapping[str, Mapping[str, ResultRecord]],
    roles: Mapping[str, str],
    clusters: Clusters,
) -> dict[str, Cell]:
    """Return system -> cell of one metric, on one common scale."""
    records = {
        key: row[column.metric] for key, row in systems.items() if column.metric in row
    }
    ends = [
        x
        for record in records.values()
        for x in (*(record.ci95 or ()), record.value)
        if math.isfinite(x)
    ]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    span = (high - low) or 1.0
    scale = _scale(records, roles)

    def place(value: float) -> float:
        return (
            round(min(100.0, max(0.0, 100 * (value - low) / span)), 1)
            if math.isfinite(value)
            else 0.0
        )

    cells: dict[str, Cell] = {}
    for key, record in records.items():
        letters = clusters.of(column.metric, key)
        left, right = (
            place(end) for end in record.ci95 or (record.value, record.value)
        )
        cells[key] = Cell(
            record=record,
            letters=letters,
            best=key in clusters.leading.get(column.metric, ()),
            low=left,
            width=round(right - left, 1),
            dot=place(record.value),
            ticks={role: place(value) for role, value in scale.items()},
            share=_share(record.value, scale),
        )
    return cells


def _scale(
    records: Mapping[str, ResultRecord], roles: Mapping[str, str]
) -> dict[str, float]:
    """Return role -> value of its first system."""
    scale: dict[str, float] = {}
    for key, record in records.items():
        role = roles.get(key)
        if role and math.isfinite(record.value):
            scale.setdefault(role, record.value)
    return scale


def _share(value: float, scale: Mapping[str, float]) -> float | None:
    """Return the share of the way from the floor to people; None without both ends,
    or where they are equal.
    """
    if (
        set(scale) != set(SCALES)
        or scale["people"] == scale["floor"]
        or not math.isfinite(value)
    ):
        return None
    return (value - scale["floor"]) / (scale["people"] - scale["floor"])


def _sizes(records: Iterable[ResultRecord]) -> str:
    return next((text for record in records if (text := size_text(record.sizes))), "")


def _decoding_labels(group: Group) -> dict[tuple[int, str], str]:
    """Return number of the run and decoding key -> what tells the decoding apart in the
    group.

    A field that differs between runs alone is named where a run has a value for it: the
    default may mean nothing there, as for captions that a file holds.
    """
    between = swept_fields(record for _, record in group.records)
    labels: dict[tuple[int, str], str] = {}
    for number_of_run, run in enumerate(group.runs):
        within = decoding_labels(run.records)
        swept = swept_fields(run.records)
        for record in run.records:
            others = {
                name: value
                for name, value in record.decoding.items()
                if name in between and name not in swept
            }
            text = (
                f"{within[record.decoding_key]} {decoding_text(others)}"
                if record.level != "model"
                else within[record.decoding_key]
            )
            labels[number_of_run, record.decoding_key] = text.strip()
    return labels


def table_rows(group: Group) -> list[Sequence[object]]:
    """Return a header and every record with numbers in full, for CSV; those of slices
    follow, named in a last column.
    """
    head = (
        "run",
        "task",
        "model",
        "decoding",
        "metric",
        "higher_is_better",
        "value",
        "ci_low",
        "ci_high",
        "p_value",
        "p_method",
        "harmonic_p",
        "n",
        "skipped",
        "sizes",
        "seconds",
        "signature",
    )
    slices = [
        (k, record) for k, side in enumerate(group.sides) for record in side.run.slices
    ]
    if slices:
        head = (*head, "slice")
    rows: list[Sequence[object]] = [head]
    for number_of_run, record in [*group.records, *slices]:
        row = full_row(record) | {"run": group.sides[number_of_run].name}
        rows.append([None if row[name] != row[name] else row[name] for name in head])
    return rows
