"""Vega-Lite specifications as plain JSON: channels, marks, layers, panels, and the
marks that several charts have in common.

Scales, axes and legends are dictionaries with the names of Vega-Lite
(https://vega.github.io/vega-lite/docs/). None stands for null, which takes a title or a
legend away.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.contracts.parameters import Parameters, Values
from harness.reporting.charts.chart import DASHES, SEQUENTIAL, SHAPES, Layout, Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
"""Version of Vega-Lite for which the specifications are written."""
NUMBERS = ".6~g"
"""Format of the numbers of axes and legends."""
Rows = Sequence[Parameters]


def nominal(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of names.

    >>> nominal("system", title=None)
    {'field': 'system', 'type': 'nominal', 'title': None}
    """
    return {"field": field, "type": "nominal", **options}


def quantitative(field: str, **options: Any) -> Spec:
    """Return a channel that shows a field of numbers."""
    return {"field": field, "type": "quantitative", **options}


def equal(field: str, value: str) -> Spec:
    """Return the condition that a field has a value."""
    return {"field": field, "equal": value}


def mark(
    kind: str, look: Spec, *, data: str = "", where: str | Spec = "", **channels: Any
) -> Spec:
    """Return one mark per row.

    Parameters
    ----------
    kind : str
        Mark, such as ``rule``.
    look : dict
        Properties that all these marks have in common.
    data : str
        Name of the rows; default: those of the layers around it.
    where : str or dict
        Vega expression or condition of the rows that are drawn; default: all.
    **channels
        What each mark shows, such as ``x``.
    """
    return {**source(data, where), "mark": {"type": kind, **look}, "encoding": channels}


def layer(
    *layers: Spec, data: str = "", where: str | Spec = "", **options: Any
) -> Spec:
    """Return marks on top of each other, with ``data`` and ``where`` for all of them;
    options are ``width``, ``height``, ``title``.
    """
    return {**source(data, where), "layer": list(layers), **options}


def source(data: str, where: str | Spec = "") -> Spec:
    """Return the part of a specification that says which rows are drawn.

    >>> source("points", "isValid(datum.x)")
    {'data': {'name': 'points'}, 'transform': [{'filter': 'isValid(datum.x)'}]}
    """
    return {
        **({"data": {"name": data}} if data else {}),
        **({"transform": [{"filter": where}]} if where else {}),
    }


def distinct(rows: Rows, field: str) -> list[Any]:
    """Return the different values of a field, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in rows))


# --------------------------------------------------------------------------- whole charts


def finish_chart(chart: Spec, **data: Rows) -> Spec:
    """Return a chart whose parts refer to data by name, with the rows of each name."""
    datasets = {name: [_plain(row) for row in rows] for name, rows in data.items()}
    return {"$schema": SCHEMA, **chart, "datasets": datasets}


def _plain(row: Parameters) -> Values:
    """Return a row for JSON: NaN and infinities become null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def panels(charts: Sequence[Spec], columns: int) -> Spec:
    """Return charts side by side, in rows of ``columns``; a single chart as it is."""
    return (
        charts[0] if len(charts) == 1 else {"concat": list(charts), "columns": columns}
    )


def panel_grid(
    names: Sequence[str],
    layout: Layout,
    labels: Iterable[str],
    panel: Callable[[str, float, bool], Spec],
) -> Spec:
    """Return a panel per name, in rows as even as possible;
    ``panel(name, width, first)`` draws one, the first of a row with ``labels``.
    """
    space = layout.label_space(labels)
    columns = layout.columns(len(names), space)
    width = layout.panel_width(columns, space)
    return panels(
        [panel(name, width, k % columns == 0) for k, name in enumerate(names)], columns
    )


# --------------------------------------------------------------------------- axes, scales and legends


def pad_ends(values: Iterable[float | None], share: float = 0.05) -> list[float]:
    """Return the ends of an axis: smallest and largest finite value with a margin;
    [0, 1] without any.
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    margin = share * (high - low) or 0.05 * abs(high) or 0.05
    return [low - margin, high + margin]


def value_axis(
    values: Iterable[float | None],
    width: float,
    layout: Layout,
    share: float = 0.05,
    **options: Any,
) -> Spec:
    """Return scale and axis of numbers for a panel of a width, with a margin;
    options are those of the scale.
    """
    ticks = max(2, min(5, int(width // (4 * layout.font))))
    return {
        "scale": {
            "domain": pad_ends(values, share),
            "nice": False,
            "zero": False,
            **options,
        },
        "axis": {
            "title": None,
            "tickCount": ticks,
            "format": NUMBERS,
            "labelFlush": True,
        },
    }


def name_axis(field: str, names: Sequence[str], **axis: Any) -> Spec:
    """Return a channel of names in their order,
    whose axis has neither ticks nor a line.
    """
    return nominal(
        field,
        sort=list(names),
        axis={"title": None, "ticks": False, "domain": False, **axis},
    )


def short_labels(names: Sequence[str], layout: Layout) -> Spec:
    """Return the property of an axis or header that shortens names which have no room
    in the middle; none where all have.

    Names that differ at their ends alone, as those of one model under several
    decodings, would be cut to equal ones at the end.
    """
    short = layout.short_names(names)
    return (
        {"labelExpr": f"{json.dumps(short)}[datum.label] || datum.label"}
        if short
        else {}
    )


def legend_below(names: Sequence[str], layout: Layout, least: int = 2) -> Spec | None:
    """Return a legend of the names below a figure, in as many columns as have room;
    None for fewer than ``least`` names.
    """
    widest = max(map(layout.text_width, names)) + 3.5 * layout.font
    columns = max(1, int(layout.width // widest))
    return (
        {"title": None, "orient": "bottom", "columns": columns}
        if len(names) >= least
        else None
    )


def series_channels(
    field: str, names: Sequence[str], legend: Spec | None
) -> tuple[Spec, Spec, Spec]:
    """Return colour, shape and dash of the names of a field; the colours are the
    categories of the configuration.
    """
    count = len(names)
    ranges = (
        {},
        {"range": _shift_rounds(SHAPES, count)},
        {"range": _shift_rounds(DASHES, count)},
    )
    color, shape, dash = (
        nominal(field, scale={"domain": list(names), **r}, legend=legend)
        for r in ranges
    )
    return color, shape, dash


def _shift_rounds(values: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` values; each round begins one later, so that shape and colour
    together name up to 49 series.
    """
    return [values[(k + k // len(values)) % len(values)] for k in range(count)]


def position_color(layout: Layout) -> Spec:
    """Return the colours of ``position``,
    from 0 for the worst to 1 for the best value.
    """
    scale = {"domain": [0, 1], "range": list(SEQUENTIAL), "interpolate": "lab"}
    legend = {
        "title": None,
        "orient": "bottom",
        "values": [0, 1],
        "labelExpr": "datum.value ? 'best' : 'worst'",
        "gradientLength": 10 * layout.font,
        "gradientThickness": 0.8 * layout.font,
    }
    return quantitative("position", scale=scale, legend=legend)


# --------------------------------------------------------------------------- marks of several charts


def interval_points(
    field: str,
    axis: Spec,
    y: Spec,
    kind: str,
    looks: Mapping[str, tuple[str, str]],
    legend: Spec,
    size: float,
    layout: Layout,
    tooltip: Sequence[Spec],
) -> list[Spec]:
    """Return the points of ``field`` on their intervals from ``low`` to ``high``;
    ``looks`` has shape and colour of each kind.
    """
    shape, color = (
        nominal(
            kind,
            scale={
                "domain": list(looks),
                "range": [look[k] for look in looks.values()],
            },
            legend=legend,
        )
        for k in (0, 1)
    )
    width = {"strokeWidth": 0.14 * layout.font}
    low = quantitative("low", **axis)
    look = {"filled": True, "opacity": 1, "size": size * layout.font**2}
    return [
        mark(
            "rule",
            width,
            where="isValid(datum.low)",
            x=low,
            x2={"field": "high"},
            y=y,
            color=color,
        ),
        mark(
            "point",
            look,
            x=quantitative(field, **axis),
            y=y,
            color=color,
            shape=shape,
            tooltip=list(tooltip),
        ),
    ]


def banded_lines(
    x: Spec,
    up: Spec,
    channels: tuple[Spec, Spec, Spec],
    size: float,
    layout: Layout,
    tooltip: Sequence[Spec],
) -> list[Spec]:
    """Return lines of ``y`` over ``x`` with their points, and bands from ``low`` to
    ``high``; ``up`` is the vertical axis.
    """
    color, shape, dash = channels
    y = quantitative("y", **up)
    low = quantitative("low", **up)
    look = {"filled": True, "opacity": 1, "size": size * layout.font**2}
    return [
        mark(
            "area",
            {"opacity": 0.18},
            where="isValid(datum.low)",
            x=x,
            y=low,
            y2={"field": "high"},
            color=color,
        ),
        mark(
            "line",
            {"strokeWidth": 0.14 * layout.font},
            x=x,
            y=y,
            color=color,
            strokeDash=dash,
        ),
        mark("point", look, x=x, y=y, color=color, shape=shape, tooltip=list(tooltip)),
    ]


def squares(
    x: Spec,
    y: Spec,
    color: Spec,
    white: str,
    stroke: Spec,
    layout: Layout,
    tooltip: Sequence[Spec],
) -> list[Spec]:
    """Return a square per cell with a colour, and its ``text``: white where the Vega
    expression ``white`` is true, else black; without a square in the colour of the
    style.
    """
    look = {"stroke": "white", **stroke}
    colored = {"test": "isValid(datum.position) || isValid(datum.r)", "value": "black"}
    text_color = {"condition": [{"test": white, "value": "white"}, colored]}
    return [
        mark("rect", look, x=x, y=y, color=color, tooltip=list(tooltip)),
        mark(
            "text",
            {"fontSize": 0.92 * layout.font},
            x=x,
            y=y,
            text=nominal("text"),
            color=text_color,
        ),
    ]
