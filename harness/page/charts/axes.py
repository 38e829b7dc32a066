"""Axes, scales and legends of charts: ends with a margin, names that have room, and the
colours, shapes and dashes of series.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from harness.page.charts.chart import DASHES, SEQUENTIAL, SHAPES, Layout, Spec
from harness.page.charts.vega import nominal, quantitative

NUMBERS = ".6~g"
"""Format of the numbers of axes and legends."""


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
    if not short:
        return {}
    return {"labelExpr": f"{json.dumps(short)}[datum.label] || datum.label"}


def legend_below(names: Sequence[str], layout: Layout, least: int = 2) -> Spec | None:
    """Return a legend of the names below a figure, in as many columns as have room;
    None for fewer than ``least`` names.
    """
    widest = max(map(layout.text_width, names)) + 3.5 * layout.font
    columns = max(1, int(layout.width // widest))
    if len(names) < least:
        return None
    return {"title": None, "orient": "bottom", "columns": columns}


def series_channels(
    field: str, names: Sequence[str], legend: Spec | None
) -> tuple[Spec, Spec, Spec]:
    """Return colour, shape and dash of the names of a field; the colours are the
    categories of the configuration.
    """

    def channel(**range_of_values: Any) -> Spec:
        scale = {"domain": list(names), **range_of_values}
        return nominal(field, scale=scale, legend=legend)

    shapes = _shift_rounds(SHAPES, len(names))
    dashes = _shift_rounds(DASHES, len(names))
    return channel(), channel(range=shapes), channel(range=dashes)


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
