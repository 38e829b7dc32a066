"""Lines over the fields of the decoding that vary: temperature, candidates, ...; a panel per metric, a band for the interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from harness.contracts.parameters import Values
from harness.reporting.charts import vega
from harness.reporting.charts.chart import Chart, Spec
from harness.reporting.charts.style import Layout
from harness.reporting.result_groups import headings
from harness.reporting.table import interval_text, number
from harness.run.finished import Run
from harness.rundir.records import ResultRecord, decoding_text, lookup

AXES = ("temperature", "top_p", "top_k", "beams", "length_penalty", "candidates", "references")
"""Fields of a decoding that are numbers."""


def sweeps(run: Run) -> list[Chart]:
    """Return a chart per field of the decoding that has several values."""
    charts: list[Chart] = []
    for axis in AXES:
        rows = sweep_rows(run.records, axis)
        if not rows:
            continue
        title = f"Metrics over {axis.replace('_', ' ')}"
        caption = f"{title}, with 95 % intervals as bands. The arrow of a metric shows the direction of better values."
        build = partial(build_lines, rows, axis.replace("_", " "))
        charts.append(Chart(f"over-{axis.replace('_', '-')}", title, caption, "sweeps", build))
    return charts


def sweep_rows(records: Sequence[ResultRecord], axis: str) -> list[Values]:
    """Return a row per record with the field as ``x``; the other fields that vary belong to the name of the line."""
    values = {_number(record, axis) for record in records} - {None}
    if len(values) < 2:
        return []
    others = {name for record in records for name in record.decoding if name != axis}
    varying = {name for name in others if len({repr(record.decoding.get(name)) for record in records}) > 1}
    rows: list[Values] = []
    heads = headings(records)
    for record in records:
        x = _number(record, axis)
        if x is None or not math.isfinite(record.value):
            continue
        remaining = decoding_text({name: value for name, value in record.decoding.items() if name in varying})
        low, high = record.ci95 or (None, None)
        rows.append({
            "metric": heads[record.metric], "line": f"{record.model} {remaining}".strip(), "x": x, "y": record.value,
            "low": low, "high": high, "text": number(record.value), "interval": interval_text(record.ci95),
        })  # fmt: skip
    return rows


def _number(record: ResultRecord, axis: str) -> float | None:
    value = lookup(record, f"decoding.{axis}")
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def build_lines(rows: Sequence[Values], x_title: str, layout: Layout) -> Spec:
    """Return a panel per metric with a line per system; each metric has a scale of its own."""
    metrics, lines = vega.distinct(rows, "metric"), vega.distinct(rows, "line")
    columns = layout.columns(len(metrics))
    width = layout.panel_width(columns, 0, layout.gap + 4 * layout.font) - 4 * layout.font / columns
    channels = vega.series_channels("line", lines, vega.legend_below(lines, layout))
    x_axis = {"title": x_title, "tickCount": 5, "grid": False, "format": vega.NUMBERS}
    x = vega.quantitative("x", scale={"zero": False, "nice": False}, axis=x_axis)
    up = {"scale": {"zero": False, "nice": True}, "axis": {"tickCount": 4, "title": None, "format": vega.NUMBERS}}
    charts: list[Spec] = []
    for metric in metrics:
        texts = [vega.nominal("line"), vega.quantitative("x", title=x_title), vega.nominal("text", title=metric), vega.nominal("interval")]
        marks = vega.banded_lines(x, up, channels, 0.3, layout, texts)
        height = min(0.7 * width, 14 * layout.font)
        charts.append(vega.layer(*marks, data="rows", where=vega.equal("metric", metric), width=width, height=height, title=metric))
    return vega.finish_chart(vega.panels(charts, columns), rows=rows)
