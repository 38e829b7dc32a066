"""Views of a spec as charts: lines, points,
bars and heat maps of the result records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harness.contracts.parameters import Values
from harness.page.charts import axes, shared_marks, vega
from harness.page.charts.chart import WHITE_TEXT, Chart, Layout, Spec
from harness.page.charts.planes import plane_chart
from harness.reporting.result_groups import directions
from harness.reporting.table import number, shown_names
from harness.reporting.views import Series, series, shown_view, split_quantity
from harness.results import ResultRecord, Run
from harness.spec.models import ViewSpec

DRAWN = ("line", "scatter", "bar", "heatmap")
"""Kinds of views that are charts; the others are tables or texts."""

WIDEST_BAR = 9
"""Largest width of a bar with its gap, in font sizes."""


def view_charts(run: Run) -> list[Chart]:
    """Return the charts of the views of a run's spec, in their order."""
    charts = [
        (index, view_chart(view, run.records))
        for index, view in enumerate(run.provenance.views, 1)
        if view.plot in DRAWN
    ]
    return [
        replace(chart, id=f"view-{index}")
        for index, chart in charts
        if chart is not None
    ]


def view_chart(view: ViewSpec, records: Sequence[ResultRecord]) -> Chart | None:
    """Return the chart of one view; None where the records have no values of it."""
    plane = _plane(view, records)
    if plane is not None:
        return plane
    groups = [group for group in series(records, view.x, view.y, view.by) if group.x]
    if not groups:
        return None

    display = shown_view(view, records)
    names = shown_names(records)
    direction = directions(records)
    if view.x == "metric":
        groups = [
            replace(group, x=tuple(names[str(label)] for label in group.x))
            for group in groups
        ]
    shown_direction = {names[label]: value for label, value in direction.items()}
    build = partial(build_view, display, groups, shown_direction)
    return Chart("view", display.heading, view.remark, "views", build)


def _plane(view: ViewSpec, records: Sequence[ResultRecord]) -> Chart | None:
    """Return the plane of a view of two metrics, a point per system; None for other
    views and without two points.
    """
    if view.plot != "scatter" or view.by not in (None, "model"):
        return None
    if not view.x.startswith("metric:") or not isinstance(view.y, str):
        return None
    across = view.x.removeprefix("metric:")
    direction = directions(records)
    if across not in direction or view.y not in direction:
        return None
    title = shown_view(view, records).heading
    return plane_chart(records, across, view.y, title, view.note, "views")


def build_view(
    view: ViewSpec,
    groups: list[Series],
    direction: dict[str, bool | None],
    layout: Layout,
) -> Spec:
    """Return the specification of a view."""
    rows = [row for group in groups for row in _rows(group)]
    if view.plot == "heatmap":
        return _heatmap(view, rows, direction, layout)
    names = vega.distinct(rows, "series")
    channels = axes.series_channels("series", names, axes.legend_below(names, layout))
    width = layout.panel_width(1, 5 * layout.font)
    size: Spec = {"width": width, "height": min(0.62 * width, 26 * layout.font)}
    if view.plot == "bar":
        marks = _bars(view, rows, channels[0], layout)
        size["width"] = min(width, WIDEST_BAR * layout.font * (len(rows) + 1))
    elif view.plot == "line":
        x = _x(view, rows, layout, grid=False)
        up = _up(view, {"zero": False, "nice": True})
        marks = shared_marks.banded_lines(x, up, channels, 0.35, layout, _tooltip())
    else:
        marks = _points(view, rows, channels, layout)
    return vega.finish_chart(vega.layer(*marks, data="rows", **size), rows=rows)


def _rows(group: Series) -> list[Values]:
    none = (None,) * len(group.x)
    low = group.low or none
    high = group.high or none
    return [
        {
            "series": group.name,
            "x": x if _is_number(x) else str(x),
            "y": y,
            "low": a,
            "high": b,
            "text": number(y),
        }
        for x, y, a, b in zip(group.x, group.y, low, high)
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _titles(view: ViewSpec) -> tuple[str, str | None]:
    """Return the titles of both axes; none across for names, none up for numbers of
    several metrics.
    """
    x = view.x.removeprefix("decoding.").removeprefix("metric:").replace("_", " ")
    if view.x in ("metric", "model"):
        x = ""
    if isinstance(view.y, str):
        return x, None if view.y == "*" else view.y

    quantities = {split_quantity(name)[0] for name in view.y}
    if len(quantities) != 1:
        return x, None
    return x, next(iter(quantities - {"value"}), None)


def _x(view: ViewSpec, rows: list[Values], layout: Layout, **axis: Any) -> Spec:
    """Return the channel of the horizontal axis: numbers where all values are numbers,
    names in their order otherwise.
    """
    title = _titles(view)[0] or None
    if all(_is_number(row["x"]) for row in rows):
        return vega.quantitative(
            "x",
            scale={"zero": False, "nice": True},
            axis={"title": title, "format": axes.NUMBERS, **axis},
        )
    names = list(dict.fromkeys(str(row["x"]) for row in rows))
    wide = sum(map(layout.text_width, names)) > 0.8 * layout.width
    return vega.nominal(
        "x", sort=names, axis={"title": title, "labelAngle": -35 if wide else 0, **axis}
    )


def _points(
    view: ViewSpec,
    rows: list[Values],
    channels: tuple[Spec, Spec, Spec],
    layout: Layout,
) -> list[Spec]:
    x = _x(view, rows, layout)
    up = _up(view, {"zero": False, "nice": True})
    color, shape, _ = channels
    y = vega.quantitative("y", **up)
    low = vega.quantitative("low", **up)
    look = {"filled": True, "opacity": 1, "size": 0.6 * layout.font**2}
    return [
        vega.mark(
            "rule",
            {"opacity": 0.55},
            where="isValid(datum.low)",
            x=x,
            y=low,
            y2={"field": "high"},
            color=color,
        ),
        vega.mark(
            "point", look, x=x, y=y, color=color, shape=shape, tooltip=_tooltip()
        ),
    ]


def _bars(
    view: ViewSpec, rows: list[Values], color: Spec, layout: Layout
) -> list[Spec]:
    for row in rows:
        row["x"] = str(row["x"])
    offset = vega.nominal("series", sort=vega.distinct(rows, "series"))
    channels: Spec = {"x": _x(view, rows, layout, ticks=False), "xOffset": offset}
    up = _up(view, {"domain": _bar_ends(rows), "nice": True})
    y = vega.quantitative("y", **up)
    low = vega.quantitative("low", **up)
    # The interval has the colour of texts on a wider line of the colour of the
    # background: it is seen on every bar and above it.
    intervals = [
        vega.mark(
            "rule",
            {"style": style, "strokeWidth": width * layout.font},
            where="isValid(datum.low)",
            **channels,
            y=low,
            y2={"field": "high"},
        )
        for style, width in (("halo", 0.36), ("interval", 0.12))
    ]
    return [
        vega.mark(
            "bar", {"opacity": 0.85}, **channels, y=y, color=color, tooltip=_tooltip()
        ),
        *intervals,
    ]


def _up(view: ViewSpec, scale: Spec) -> Spec:
    """Return scale and axis of the channels of the vertical axis."""
    return {
        "scale": scale,
        "axis": {"title": _titles(view)[1], "format": axes.NUMBERS, "tickCount": 5},
    }


def _bar_ends(rows: list[Values]) -> list[float]:
    """Return the ends of an axis that holds zero, all bars and their intervals, with a
    margin beyond the last interval.
    """
    finite = [0.0]
    for row in rows:
        values = (row["y"], row["low"], row["high"])
        finite += [v for v in values if v is not None and math.isfinite(v)]
    low = min(finite)
    high = max(finite)
    margin = 0.04 * (high - low) or 0.05
    return [
        low - margin if low < 0 else 0.0,
        high + margin if high > 0 or low == 0 else 0.0,
    ]


def _heatmap(
    view: ViewSpec,
    rows: list[Values],
    direction: dict[str, bool | None],
    layout: Layout,
) -> Spec:
    """Return a heat map whose colours run from worst to best of each metric; of all
    values where there is one metric.
    """
    _orient(view, rows, direction)
    across, down = (
        list(dict.fromkeys(str(row[name]) for row in rows)) for name in ("x", "series")
    )
    angle = 0 if len(across) < 9 else -35
    x = axes.name_axis(
        "x",
        across,
        title=_titles(view)[0] or None,
        labelAngle=angle,
        **axes.short_labels(across, layout),
    )
    y = axes.name_axis("series", down, **axes.short_labels(down, layout))
    marks = shared_marks.squares(
        x, y, axes.position_color(layout), WHITE_TEXT, {}, layout, _tooltip()
    )
    width = layout.panel_width(1, layout.label_space(down))
    height = {"step": 2 * layout.font}
    chart = vega.layer(*marks, data="rows", width=width, height=height)
    return vega.finish_chart(chart, rows=rows)


def _orient(
    view: ViewSpec, rows: list[Values], direction: dict[str, bool | None]
) -> None:
    """Add ``position`` to the rows: 0 for the worst and 1 for the best value of the
    same metric.
    """
    groups: dict[str, list[Values]] = {}
    for row in rows:
        groups.setdefault(_metric_of(view, row, direction), []).append(row)
    for metric, group in groups.items():
        values = [row["y"] for row in group]
        low = min(values)
        high = max(values)
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
    return [
        vega.nominal("series"),
        vega.nominal("x"),
        vega.nominal("text", title="value"),
    ]
