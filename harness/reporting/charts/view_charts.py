"""Views of a spec as charts: lines, points, bars and heat maps of the result records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from harness.contracts.parameters import Values
from harness.reporting.charts.build import (
    color_scale,
    dash_scale,
    directions,
    finish_chart,
    legend_columns,
    position_color,
    shape_scale,
)
from harness.reporting.charts.chart import Chart, Spec
from harness.reporting.charts.layout import Layout
from harness.reporting.charts.planes import build_plane, plane_points
from harness.reporting.charts.style import WHITE_TEXT
from harness.reporting.charts.vega import layer, mark, nominal, quantitative, when
from harness.reporting.numbers import heading, number
from harness.reporting.views import Series, series, split_quantity
from harness.run.finished import Run
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

DRAWN = ("line", "scatter", "bar", "heatmap")
"""Kinds of views that are charts; the others are tables or texts."""

WIDEST_BAR = 9
"""Largest width of a bar with its gap, in font sizes."""


def view_charts(run: Run) -> list[Chart]:
    """Return the charts of the views of a run's spec, in their order."""
    charts: list[Chart] = []
    for index, view in enumerate(run.provenance.views, 1):
        if view.plot in DRAWN:
            chart = view_chart(view, run.records)
            if chart is not None:
                charts.append(Chart(f"view-{index}", chart.title, chart.caption, chart.group, chart.build))
    return charts


def view_chart(view: ViewSpec, records: Sequence[ResultRecord]) -> Chart | None:
    """Return the chart of one view; None where the records have no values of it."""
    plane = _plane(view, records)
    if plane is not None:
        return plane
    groups = [group for group in series(records, view.x, view.y, view.by) if group.x]
    if not groups:
        return None
    build = partial(build_view, view, groups, directions(records))
    return Chart("view", view.heading, view.remark, "views", build)


def _plane(view: ViewSpec, records: Sequence[ResultRecord]) -> Chart | None:
    """Return the plane of a view of two metrics, a point per system; None for other views and without two points."""
    across, up, direction = view.x.removeprefix("metric:"), view.y, directions(records)
    if view.plot != "scatter" or not view.x.startswith("metric:") or view.by not in (None, "model"):
        return None
    if not isinstance(up, str) or across not in direction or up not in direction:
        return None
    points = plane_points(records, across, up)
    if len(points) < 2:
        return None
    titles = (heading(across, direction[across]), heading(up, direction[up]))
    build = partial(build_plane, points, titles, (direction[across], direction[up]))
    return Chart("view", view.heading, view.note, "views", build)


def build_view(view: ViewSpec, groups: list[Series], direction: dict[str, bool | None], layout: Layout) -> Spec:
    """Return the specification of a view."""
    rows = [row for group in groups for row in _rows(group)]
    if view.plot == "heatmap":
        return _heatmap(view, rows, direction, layout)
    return {"line": _lines, "scatter": _points, "bar": _bars}[view.plot](view, rows, layout)


def _rows(group: Series) -> list[Values]:
    low, high = (group.low, group.high) if group.low else ((None,) * len(group.x),) * 2
    return [
        {"series": group.label, "x": x if _is_number(x) else str(x), "y": y, "low": a, "high": b, "text": number(y)}
        for x, y, a, b in zip(group.x, group.y, low, high)
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _titles(view: ViewSpec) -> tuple[str, str | None]:
    x = (
        ""
        if view.x in ("metric", "model")
        else view.x.removeprefix("decoding.").removeprefix("metric:").replace("_", " ")
    )
    if isinstance(view.y, str):
        return x, None if view.y == "*" else view.y
    quantities = {split_quantity(name)[0] for name in view.y}
    return x, next(iter(quantities - {"value"}), None) if len(quantities) == 1 else None


def _x(view: ViewSpec, rows: list[Values], layout: Layout, **axis: Any) -> Spec:
    """Return the channel of the horizontal axis: numbers where all values are numbers, names in their order otherwise."""
    title = _titles(view)[0] or None
    if all(_is_number(row["x"]) for row in rows):
        return quantitative("x", scale={"zero": False, "nice": True}, axis={"title": title, "format": ".6~g", **axis})
    names = list(dict.fromkeys(str(row["x"]) for row in rows))
    wide = sum(map(layout.text_width, names)) > 0.8 * layout.width
    return nominal("x", sort=names, axis={"title": title, "labelAngle": -35 if wide else 0, **axis})


def _legend(rows: list[Values], layout: Layout) -> tuple[list[str], Spec | None]:
    names = list(dict.fromkeys(row["series"] for row in rows))
    if len(names) == 1:
        return names, None
    return names, {"title": None, "orient": "bottom", "columns": legend_columns(names, layout)}


def _size(layout: Layout) -> Spec:
    width = layout.panel_width(1, 5 * layout.font)
    return {"width": width, "height": min(0.62 * width, 26 * layout.font)}


def _lines(view: ViewSpec, rows: list[Values], layout: Layout) -> Spec:
    names, legend = _legend(rows, layout)
    x, up = _x(view, rows, layout, grid=False), _up(view, {"zero": False, "nice": True})
    y = quantitative("y", **up)
    color, shape, dash = (
        nominal("series", scale=scale(names), legend=legend) for scale in (color_scale, shape_scale, dash_scale)
    )
    look = {"filled": True, "opacity": 1, "size": 0.35 * layout.font**2}
    layers = [
        mark(
            "area", {"opacity": 0.18}, where="isValid(datum.low)",
            x=x, y=quantitative("low", **up), y2={"field": "high"}, color=color,
        ),
        mark("line", {"strokeWidth": 0.14 * layout.font}, x=x, y=y, color=color, strokeDash=dash),
        mark("point", look, x=x, y=y, color=color, shape=shape, tooltip=_tooltip()),
    ]  # fmt: skip
    return finish_chart(layer(*layers, data="rows", **_size(layout)), rows=rows)


def _points(view: ViewSpec, rows: list[Values], layout: Layout) -> Spec:
    names, legend = _legend(rows, layout)
    x, up = _x(view, rows, layout), _up(view, {"zero": False, "nice": True})
    color, shape = (nominal("series", scale=scale(names), legend=legend) for scale in (color_scale, shape_scale))
    look = {"filled": True, "opacity": 1, "size": 0.6 * layout.font**2}
    layers = [
        mark(
            "rule", {"opacity": 0.55}, where="isValid(datum.low)",
            x=x, y=quantitative("low", **up), y2={"field": "high"}, color=color,
        ),
        mark("point", look, x=x, y=quantitative("y", **up), color=color, shape=shape, tooltip=_tooltip()),
    ]  # fmt: skip
    return finish_chart(layer(*layers, data="rows", **_size(layout)), rows=rows)


def _bars(view: ViewSpec, rows: list[Values], layout: Layout) -> Spec:
    names, legend = _legend(rows, layout)
    for row in rows:
        row["x"] = str(row["x"])
    channels: Spec = {"x": _x(view, rows, layout, ticks=False), "xOffset": nominal("series", sort=names)}
    up = _up(view, {"domain": _bar_ends(rows), "nice": True})
    bars = mark(
        "bar", {"opacity": 0.85}, **channels, y=quantitative("y", **up),
        color=nominal("series", scale=color_scale(names), legend=legend), tooltip=_tooltip(),
    )  # fmt: skip
    ends = mark(
        "rule", {"strokeWidth": 0.1 * layout.font}, where="isValid(datum.low)",
        **channels, y=quantitative("low", **up), y2={"field": "high"},
    )  # fmt: skip
    size = _size(layout)
    size["width"] = min(size["width"], WIDEST_BAR * layout.font * (len(rows) + 1))
    return finish_chart(layer(bars, ends, data="rows", **size), rows=rows)


def _up(view: ViewSpec, scale: Spec) -> Spec:
    """Return scale and axis of the channels of the vertical axis."""
    return {"scale": scale, "axis": {"title": _titles(view)[1], "format": ".6~g", "tickCount": 5}}


def _bar_ends(rows: list[Values]) -> list[float]:
    """Return the ends of an axis that holds zero, all bars and their intervals, with a margin beyond the last interval."""
    values = [0.0, *(row[name] for row in rows for name in ("y", "low", "high") if row[name] is not None)]
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite), max(finite)
    margin = 0.04 * (high - low) or 0.05
    return [low - margin if low < 0 else 0.0, high + margin if high > 0 or low == 0 else 0.0]


def _heatmap(view: ViewSpec, rows: list[Values], direction: dict[str, bool | None], layout: Layout) -> Spec:
    """Return a heat map whose colours run from worst to best of each metric; of all values where there is one metric."""
    _orient(view, rows, direction)
    across, down = (list(dict.fromkeys(str(row[name]) for row in rows)) for name in ("x", "series"))
    angle = 0 if len(across) < 9 else -35
    axis = {"title": _titles(view)[0] or None, "labelAngle": angle, "ticks": False, "domain": False}
    channels: Spec = {
        "x": nominal("x", sort=across, axis=axis),
        "y": nominal("series", sort=down, axis={"title": None, "ticks": False, "domain": False}),
    }
    squares = mark("rect", {"stroke": "white"}, **channels, color=position_color(layout), tooltip=_tooltip())
    color = when(WHITE_TEXT, {"value": "white"}, {"value": "black"})
    texts = mark("text", {"fontSize": 0.92 * layout.font}, **channels, text=nominal("text"), color=color)
    width = layout.panel_width(1, layout.label_space(down))
    return finish_chart(layer(squares, texts, data="rows", width=width, height={"step": 2 * layout.font}), rows=rows)


def _orient(view: ViewSpec, rows: list[Values], direction: dict[str, bool | None]) -> None:
    """Add ``position`` to the rows: 0 for the worst and 1 for the best value of the same metric."""
    groups: dict[str, list[Values]] = {}
    for row in rows:
        groups.setdefault(_metric_of(view, row, direction), []).append(row)
    for metric, group in groups.items():
        values = [row["y"] for row in group]
        low, high = min(values), max(values)
        for row in group:
            share = (row["y"] - low) / (high - low) if high > low else 0.5
            row["position"] = 1 - share if direction.get(metric) is False else share


def _metric_of(view: ViewSpec, row: Values, direction: dict[str, bool | None]) -> str:
    if view.x == "metric":
        return str(row["x"])
    if view.metrics != ["*"] and len(view.metrics) == 1:
        return split_quantity(view.metrics[0])[1]
    label = str(row["series"])
    matching = [name for name in direction if split_quantity(label)[1].startswith(name)]
    return max(matching, key=len, default=label)


def _tooltip() -> list[Spec]:
    return [nominal("series"), nominal("x"), nominal("text", title="value")]
