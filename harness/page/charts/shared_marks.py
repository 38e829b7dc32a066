"""Marks that several charts have in common: points on intervals, lines with bands, and
squares with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.page.charts.chart import Layout, Spec
from harness.page.charts.vega import mark, nominal, quantitative


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
    shapes = [shape for shape, _ in looks.values()]
    colors = [color for _, color in looks.values()]
    shape = nominal(kind, scale={"domain": list(looks), "range": shapes}, legend=legend)
    color = nominal(kind, scale={"domain": list(looks), "range": colors}, legend=legend)

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
