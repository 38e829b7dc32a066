"""Views of a spec as series of numbers: what a plot shows, before anything is drawn;
published values stand below ours.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from harness.errors import HarnessError
from harness.reporting.table import Table, shown_names, shown_quantity, signed_text
from harness.reporting.table import number as number_text
from harness.rundir.records import ResultRecord, lookup, number
from harness.spec.models import ViewSpec
from harness.spec.published import EVERY, PublishedRow, PublishedTable

COMBINED = {
    "harmonic p": "harmonic_mean",
    "log harmonic p": "log_harmonic_mean",
    "combined p": "harmonic_mean_test",
    "fisher p": "fisher",
    "discoveries": "discoveries",
    "mean p": "mean",
    "log mean p": "mean",  # the record has no logarithm of it
    "mean log p": "mean_log",
}
"""Quantities of a view that come from a record's ``p``: the harmonic mean and its
logarithm, the Landau-corrected test, Fisher's test for continuous p-values, the number
of examples that are significant at the false discovery rate, the mean of p, its
logarithm, and the mean of log p.
"""
NOT_PUBLISHED = "not published"
"""Cell without a published value."""
OTHER_DATA = "other data only"
"""Cell of a run whose data are not those of any published row."""
Interval = tuple[float, float] | None
Point = tuple[object, float, Interval]
"""Position, number and interval."""
Row = tuple[str, tuple[object, ...]]
"""Label and cells of a row."""


@dataclass(frozen=True)
class Series:
    """One line, group of bars or set of points;
    ``low`` and ``high`` are interval ends where known.
    """

    label: str
    x: tuple[object, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    name: str = ""
    """The label with the names of metrics in place of their code labels."""


def quantity(record: ResultRecord, name: str) -> tuple[float, Interval]:
    """Return the number of a record that a view shows, with its interval: the value,
    ``p``, ``log p``, or one of :data:`COMBINED`.
    """
    if name == "value":
        return record.value, record.ci95
    if name == "seconds":
        return record.seconds, None
    if name == "per second":
        return record.n / record.seconds if record.seconds else math.nan, None
    if name in COMBINED:
        combined = number((record.p or {}).get(COMBINED[name]))
        return math.log(combined) if name == "log mean p" else combined, None

    p = number(record.p_value)
    if name == "p" or math.isnan(p):
        return p, None
    # The logarithm of a p-value that has underflowed is -inf or wrong: such records
    # keep it from before the underflow.
    if p <= sys.float_info.min:
        return number((record.p or {}).get("log_calibrated")), None
    return math.log(p), None


def split_quantity(y: str) -> tuple[str, str]:
    """Return ``log p:METRIC``, ``p:METRIC``, ``harmonic p:METRIC``, ``seconds:METRIC``,
    ... as (quantity, metric).

    >>> split_quantity("log harmonic p:cider"), split_quantity("cider")
    (('log harmonic p', 'cider'), ('value', 'cider'))
    """
    for prefix in ("log p", "p", "seconds", "per second", *COMBINED):
        if y.startswith(prefix + ":"):
            return prefix, y.removeprefix(prefix + ":")
    return "value", y


def series(
    records: Sequence[ResultRecord], x: str, y: str | Sequence[str], by: str | None
) -> list[Series]:
    """Group the records for a plot: one series per metric asked for and per value of
    ``by`` (``x: metric`` makes the metrics the axis instead, one series per value of
    ``by``; ``x: metric:NAME`` puts two metrics of a model and decoding against each
    other).

    Raises :class:`HarnessError` for a metric that the results do not hold, naming the
    nearest.
    """
    metrics = list(dict.fromkeys(record.metric for record in records))
    against = None
    if x.startswith("metric:"):
        against = _values_of(x.removeprefix("metric:"), records, metrics)
    quantities = _expand([y] if isinstance(y, str) else list(y), metrics)

    groups: dict[str, list[Point]] = {}
    names = shown_names(records)
    titles: dict[str, str] = {}
    for item in quantities:
        name, metric = split_quantity(item)
        _check_metric(metric, metrics)
        for record in records:
            if record.metric != metric:
                continue

            group = lookup(record, by) if by else None
            label = "" if group is None else str(group)
            title = names[label] if by == "metric" else label
            if against is not None and group is None:
                # two metrics against each other: a point without a group is a model
                label = title = record.model
            elif x != "metric" and (len(quantities) > 1 or group is None):
                label = f"{item} {label}".strip()
                title = f"{shown_quantity(item, names)} {title}".strip()
            titles[label] = title

            position: object = lookup(record, x) if against is None else None
            if against is not None:
                position = against.get(_system_key(record), math.nan)
                if math.isnan(position):
                    continue
            groups.setdefault(label, []).append((position, *quantity(record, name)))
    return [
        _series_of(label, titles[label], points) for label, points in groups.items()
    ]


def shown_view(view: ViewSpec, records: Sequence[ResultRecord]) -> ViewSpec:
    """Return a view for titles and axes: its quantities have the names of their
    metrics.
    """
    names = shown_names(records)
    x = shown_quantity(view.x, names)
    y = [shown_quantity(item, names) for item in view.metrics]
    return view.model_copy(update={"x": x, "y": y[0] if isinstance(view.y, str) else y})


def _check_metric(metric: str, metrics: Sequence[str]) -> None:
    if metric not in metrics:
        raise HarnessError.of_name(
            "view asks for the metric", metric, metrics, "there are"
        )


def _values_of(
    metric: str, records: Sequence[ResultRecord], metrics: Sequence[str]
) -> dict[tuple[str, str, str], float]:
    """Return the values of one metric by task, model and decoding."""
    _check_metric(metric, metrics)
    return {
        _system_key(record): record.value
        for record in records
        if record.metric == metric
    }


def _system_key(record: ResultRecord) -> tuple[str, str, str]:
    decoding = repr(sorted(record.decoding.items(), key=lambda item: item[0]))
    return record.task, record.model, decoding


def _expand(quantities: list[str], metrics: list[str]) -> list[str]:
    """Return the quantities, with ``*`` replaced by all metrics."""
    out: list[str] = []
    for item in quantities:
        name, metric = split_quantity(item)
        if metric != "*":
            out.append(item)
            continue
        prefix = "" if name == "value" else f"{name}:"
        out.extend(f"{prefix}{label}" for label in metrics)
    return out


def _series_of(label: str, name: str, points: Sequence[Point]) -> Series:
    points = [point for point in points if not math.isnan(point[1])]
    if all(isinstance(point[0], (int, float)) for point in points):
        points.sort(key=lambda point: cast(float, point[0]))
    x = tuple(position for position, _, _ in points)
    y = tuple(value for _, value, _ in points)
    if not any(ci for _, _, ci in points):
        return Series(label, x, y, name=name)

    # a point without an interval has one of no length
    low = tuple(ci[0] if ci else value for _, value, ci in points)
    high = tuple(ci[1] if ci else value for _, value, ci in points)
    return Series(label, x, y, low, high, name)


def view_table(view: ViewSpec, records: Sequence[ResultRecord]) -> Table:
    """Return the numbers of a view: a row per series, a column per value of x, and the
    published values as rows of their own.
    """
    groups = series(records, view.x, view.y, view.by)
    values = list(dict.fromkeys(x for group in groups for x in group.x))
    if values and all(isinstance(value, (int, float)) for value in values):
        values.sort(key=lambda value: cast(float, value))
    heads = tuple(str(value) for value in values)
    rows: list[tuple[str, tuple[float, ...]]] = []
    for group in groups:
        cells = dict(zip(map(str, group.x), group.y))
        numbers = tuple(cells.get(head, math.nan) for head in heads)
        rows.append((group.label or str(view.y), numbers))

    with_published: list[tuple[str, Sequence[object]]] = [*rows]
    if isinstance(view.reference, PublishedTable):
        task = records[0].task if records else ""
        with_published = [*add_published_rows(rows, heads, view.reference, task)]
    elif view.reference:
        reference = {str(key): value for key, value in view.reference.items()}
        numbers = tuple(reference.get(head) for head in heads)
        with_published.append(("published", numbers))
    table = number_table(view, view.x, heads, with_published)

    # Published values are found by code labels, which the data keep; people read names.
    display = shown_view(view, records)
    names = shown_names(records) if view.x == "metric" else {}
    titles = {
        group.label or str(view.y): group.name or str(display.y) for group in groups
    }
    return replace(
        table,
        title=display.heading,
        headers=[display.x, *(names.get(head, head) for head in heads)],
        rows=[[titles.get(row[0], row[0]), *row[1:]] for row in table.rows],
    )


def number_table(
    view: ViewSpec,
    corner: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[object]]],
) -> Table:
    """Return labelled rows of numbers or texts as the table of a view; cells are empty
    where there is no number.
    """
    data: list[list[object]] = []
    for label, values in rows:
        # NaN, which differs from itself, is an empty cell
        cells = ["" if value is None or value != value else value for value in values]
        data.append([label, *cells])
    return Table(
        headers=[corner, *heads],
        rows=[[str(label), *map(number_text, values)] for label, *values in data],
        alignment="l" + "r" * len(heads),
        title=view.heading,
        notes=[view.remark] if view.remark else [],
        data=[[corner, *heads], *data],
    )


def add_published_rows(
    rows: Sequence[tuple[str, Sequence[float]]],
    heads: Sequence[str],
    table: PublishedTable,
    task: str,
) -> tuple[Row, ...]:
    """Return the rows of a view, each followed by the published values and by ours
    minus theirs.

    Parameters
    ----------
    rows : sequence of (label, values)
        Rows of the view, a value per column.
    heads : sequence of str
        Columns of the view.
    table : PublishedTable
        Published rows. Rows of another task are left out; those that name no row of the
        view follow at the end, without a difference.
    task : str
        Task of the run.
    """
    published = [row for row in table.rows if row.task in (None, task)]
    out: list[Row] = []
    compared: set[int] = set()
    for label, values in rows:
        out.append((label, tuple(values)))
        matches = [
            (index, row)
            for index, row in enumerate(published)
            if row.label in (label, EVERY)
        ]
        compared.update(index for index, _ in matches)
        for _, row in matches:
            out.append((_title(row), _cells(row, heads)))
            differences = tuple(
                _difference(value, row.values.get(head))
                for value, head in zip(values, heads)
            )
            if any(differences):
                out.append(("ours − published", differences))
        if not matches and published:
            out.append(("published", (NOT_PUBLISHED,) * len(heads)))

    # rows that name no row of the view have no difference
    out += [
        (_title(row), _cells(row, heads))
        for i, row in enumerate(published)
        if i not in compared
    ]
    if not published:
        out.append(("published", (OTHER_DATA,) * len(heads)))
    return tuple(out)


def _title(row: PublishedRow) -> str:
    return f"published: {row.title}" if row.title else "published"


def _cells(row: PublishedRow, heads: Sequence[str]) -> tuple[object, ...]:
    return tuple(row.values.get(head, NOT_PUBLISHED) for head in heads)


def _difference(value: float, published_value: float | str | None) -> str:
    if isinstance(published_value, float) and not math.isnan(value):
        return signed_text(value - published_value)
    return ""
