"""The matrix of the overview: a row per model and decoding, a column per metric,
grouped by the question that the metric answers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.page.groups import Clusters, Group, system_key
from harness.registry import current
from harness.registry.manifest_schema import Entry
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
from harness.results import Provenance, ResultRecord, decoding_text

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
            note = f" ({record.interval_note})" if record.interval_note else ""
            texts.append(f"95 % interval {interval_text(record.ci95)}{note}")
        elif record.interval_note:
            texts.append(f"no interval: {record.interval_note}")

        if record.p_value is not None:
            method = f" ({record.p_method})" if record.p_method else ""
            texts.append(f"p {p_text(record.p_value)}{method}")
        elif record.p_note:
            texts.append(f"no p-value: the metric {record.p_note}")
        if record.harmonic_p is not None:
            texts.append(f"harmonic p {number(record.harmonic_p)}")

        skipped = f", {record.skipped} without a score" if record.skipped else ""
        texts.append(f"{record.n} examples{skipped}")
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

    # of one set size, or of metrics that depend on none, all rows compare
    sized = [record for _, record in group.records if record.level in ("set", "corpus")]
    divided = bool(divided_metrics(group_records(sized)))
    facets: list[Facet] = []
    for size in dict.fromkeys(sizes.values()) if divided else [""]:
        members = {
            key: records
            for key, records in systems.items()
            if not divided or sizes[key] == size
        }
        cells = {
            column.metric: _cells(column, members, roles, clusters)
            for column in columns
        }
        rows: list[Row] = []
        for key in members:
            run, model, decoding = _split_key(key)
            row = Row(
                key,
                model,
                group.sides[run].name,
                decodings[run, decoding],
                sizes[key],
                roles.get(key, ""),
                tuple(cells[column.metric].get(key) for column in columns),
            )
            rows.append(row)
        title = f"sets of {size} (candidates + references)" if divided and size else ""
        facets.append(Facet(title, tuple(rows)))

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


def _split_key(key: str) -> tuple[int, str, str]:
    """Return number of the run, model and decoding key of
    :func:`~harness.page.groups.system_key`; a label may contain its ``|``.
    """
    run, _, system = key.partition("|")
    model, _, decoding = system.rpartition("|")
    return int(run), model, decoding


def _columns(group: Group) -> tuple[Column, ...]:
    """Return the columns, ordered by the questions of the registry."""
    entries = {
        record.metric: _entry(group.runs[index].provenance, record)
        for index, record in group.records
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
        column = Column(
            metric,
            names[metric],
            (entry.question if entry else "") or OTHER,
            entry.summary if entry else "",
            record.signature,
            record.higher_is_better,
            metric in tested,
        )
        columns.append(column)

    questions = dict.fromkeys(
        entry.question for manifest in current().manifests for entry in manifest.entries
    )
    ranks = {question: rank for rank, question in enumerate(filter(None, questions))}
    # metrics without a question stand last
    columns.sort(key=lambda column: ranks.get(column.question, len(ranks)))
    return tuple(columns)


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
    # results of token scores come last, when the systems that they may join are there
    records = sorted(group.records, key=lambda item: item[1].level == "model")
    for index, record in records:
        key = system_key(index, record.model, record.decoding_key)
        if record.level == "model":
            prefix = f"{index}|{record.model}|"
            same_model = (name for name in systems if name.startswith(prefix))
            key = next(same_model, key)
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

    # the scale is the range of all numbers and intervals of the column
    ends = [
        x
        for record in records.values()
        for x in (*(record.ci95 or ()), record.value)
        if math.isfinite(x)
    ]
    low = min(ends, default=0.0)
    high = max(ends, default=1.0)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        if not math.isfinite(value):
            return 0.0
        return round(min(100.0, max(0.0, 100 * (value - low) / span)), 1)

    scale = _scale(records, roles)
    cells: dict[str, Cell] = {}
    for key, record in records.items():
        letters = clusters.of(column.metric, key)
        left, right = map(place, record.ci95 or (record.value, record.value))
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
    if set(scale) != set(SCALES) or not math.isfinite(value):
        return None
    if scale["people"] == scale["floor"]:
        return None
    return (value - scale["floor"]) / (scale["people"] - scale["floor"])


def _sizes(records: Iterable[ResultRecord]) -> str:
    """Return the set sizes of the first record that has some."""
    texts = (size_text(record.sizes) for record in records)
    return next(filter(None, texts), "")


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
            text = within[record.decoding_key]
            if record.level != "model":
                others = {
                    name: value
                    for name, value in record.decoding.items()
                    if name in between and name not in swept
                }
                text = f"{text} {decoding_text(others)}"
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
        # NaN, which differs from itself, is an empty cell
        rows.append([None if row[name] != row[name] else row[name] for name in head])
    return rows
