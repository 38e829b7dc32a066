"""Heat map of all results: a column per metric with a scale of its own, dark for the
best value whichever its direction.

Runs with an axis of a sweep (temperature, number of references, ...) have lines of each
metric along it too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.contracts.parameters import Values
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import WHITE_TEXT, Chart, Layout, Spec
from harness.reporting.result_groups import (
    divided_metrics,
    group_records,
    headings,
    swept_fields,
    system_names,
)
from harness.reporting.table import heading, interval_text, number, size_text
from harness.results import ResultRecord, Run, lookup, text_of_fields

LEAST_SYSTEMS = 3
MOST_SYSTEMS = 60
"""Smallest and largest number of systems of which a heat map is drawn."""
AXES = (
    "temperature",
    "top_p",
    "top_k",
    "beams",
    "length_penalty",
    "candidates",
    "references",
)
"""Fields of a decoding that are numbers."""


def overview(run: Run) -> list[Chart]:
    """Return the heat map of a run; an empty list for fewer than three systems, where
    each cell would be the best or the worst, for one metric, and for very many systems.
    """
    names = system_names(run.records)
    cells = oriented_cells(run.records)
    drawn = {cell["metric"] for cell in cells if math.isfinite(cell["value"])}
    if not LEAST_SYSTEMS <= len(names) <= MOST_SYSTEMS or len(drawn) < 2:
        return []
    caption = (
        "Values by metric. The colour is the position between the worst (light) "
        "and the best (dark) value of the column, whichever the "
        "direction of the metric; columns without a direction have no colour."
    )
    return [
        Chart("overview", "All results", caption, "overview", partial(build, cells))
    ]


def oriented_cells(records: Sequence[ResultRecord]) -> list[Values]:
    """Return a row per record with ``position``: 0 for the worst and 1 for the best
    value of its metric (and set size).
    """
    names = system_names(records)
    groups = group_records(records)
    divided = divided_metrics(groups)
    cells: list[Values] = []
    for group in groups:
        values = [record.value for record in group if math.isfinite(record.value)]
        low = min(values, default=0.0)
        high = max(values, default=0.0)
        for record in group:
            direction = record.higher_is_better
            name = heading(record.metric, direction, record.signature)
            if record.metric in divided:
                name += f" ({size_text(record.sizes)})"

            # equal values, and metrics without a direction, have no place on the scale
            position = math.nan
            if direction is not None and high > low:
                share = (record.value - low) / (high - low)
                position = share if direction else 1 - share
            cell = {
                "metric": name,
                "system": names[record.model, record.decoding_key],
                "position": position,
                "value": record.value,
                "text": number(record.value),
                "interval": interval_text(record.ci95),
            }
            cells.append(cell)

    order = {name: index for index, name in enumerate(names.values())}
    return sorted(cells, key=lambda cell: order[cell["system"]])


def build(cells: Sequence[Values], layout: Layout) -> Spec:
    """Return a heat map of cells as of :func:`oriented_cells`; metrics become rows
    where the columns would be too narrow.
    """
    metrics = vega.distinct(cells, "metric")
    systems = vega.distinct(cells, "system")
    widest = max(len(cell["text"]) for cell in cells)
    column = layout.text_width("0" * (widest + 2))
    needed = len(metrics) * column + layout.label_space(systems)
    turned = needed > layout.width and len(systems) <= len(metrics)
    across, down = (systems, metrics) if turned else (metrics, systems)
    x, y = ("system", "metric") if turned else ("metric", "system")

    short = axes.short_labels(across, layout)
    marks = shared_marks.squares(
        axes.name_axis(x, across, orient="top", labelAngle=-35, **short),
        axes.name_axis(y, down, **axes.short_labels(down, layout)),
        axes.position_color(layout),
        WHITE_TEXT,
        {"strokeWidth": 1},
        layout,
        [vega.nominal(name) for name in ("system", "metric", "text", "interval")],
    )
    width = layout.panel_width(1, layout.label_space(down))
    height = {"step": 2 * layout.font}
    chart = vega.layer(*marks, data="cells", width=width, height=height)
    return vega.finish_chart(chart, cells=cells)


def sweeps(run: Run) -> list[Chart]:
    """Return a chart per field of the decoding that has several values."""
    charts: list[Chart] = []
    for axis in AXES:
        rows = sweep_rows(run.records, axis)
        if not rows:
            continue
        name = axis.replace("_", " ")
        title = f"Metrics over {name}"
        caption = (
            f"{title}, with 95 % intervals as bands. "
            "The arrow of a metric shows the direction of better values."
        )
        build = partial(build_lines, rows, name)
        chart_id = f"over-{axis.replace('_', '-')}"
        charts.append(Chart(chart_id, title, caption, "sweeps", build))
    return charts


def sweep_rows(records: Sequence[ResultRecord], axis: str) -> list[Values]:
    """Return a row per record with the field as ``x``; the other fields that vary
    belong to the name of the line.
    """
    values = {_number(record, axis) for record in records} - {None}
    if len(values) < 2:
        return []

    varying = [name for name in swept_fields(records) if name != axis]
    rows: list[Values] = []
    heads = headings(records)
    for record in records:
        x = _number(record, axis)
        if x is None or not math.isfinite(record.value):
            continue
        remaining = text_of_fields(record.decoding, varying)
        low, high = record.ci95 or (None, None)
        rows.append(
            {
                "metric": heads[record.metric],
                "line": f"{record.model} {remaining}".strip(),
                "x": x,
                "y": record.value,
                "low": low,
                "high": high,
                "text": number(record.value),
                "interval": interval_text(record.ci95),
            }
        )
    return rows


def _number(record: ResultRecord, axis: str) -> float | None:
    value = lookup(record, f"decoding.{axis}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def build_lines(rows: Sequence[Values], x_title: str, layout: Layout) -> Spec:
    """Return a panel per metric with a line per system;
    each metric has a scale of its own.
    """
    metrics = vega.distinct(rows, "metric")
    lines = vega.distinct(rows, "line")
    columns = layout.columns(len(metrics))
    width = (
        layout.panel_width(columns, 0, layout.gap + 4 * layout.font)
        - 4 * layout.font / columns
    )
    channels = axes.series_channels("line", lines, axes.legend_below(lines, layout))
    x_axis = {"title": x_title, "tickCount": 5, "grid": False, "format": axes.NUMBERS}
    x = vega.quantitative("x", scale={"zero": False, "nice": False}, axis=x_axis)
    up = {
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 4, "title": None, "format": axes.NUMBERS},
    }

    charts: list[Spec] = []
    for metric in metrics:
        texts = [
            vega.nominal("line"),
            vega.quantitative("x", title=x_title),
            vega.nominal("text", title=metric),
            vega.nominal("interval"),
        ]
        marks = shared_marks.banded_lines(x, up, channels, 0.3, layout, texts)
        height = min(0.7 * width, 14 * layout.font)
        charts.append(
            vega.layer(
                *marks,
                data="rows",
                where=vega.equal("metric", metric),
                width=width,
                height=height,
                title=metric,
            )
        )
    return vega.finish_chart(vega.panels(charts, columns), rows=rows)
