"""Axes, scales and legends."""

from __future__ import annotations

import math

import pytest

from harness.page.charts.axes import (
    legend_below,
    name_axis,
    pad_ends,
    position_color,
    series_channels,
    value_axis,
)
from harness.page.charts.chart import SEQUENTIAL, SHAPES, Layout

LAYOUT = Layout(width=240, panel=50, font=10)


def test_axes_have_a_margin():
    assert pad_ends([1.0, None, math.nan, 3.0], 0.05) == [0.9, 3.1]
    low, high = pad_ends([2.0])
    assert (low, high) == pytest.approx((1.9, 2.1))
    assert pad_ends([0.0])[0] < 0
    assert pad_ends([]) == [-0.05, 1.05]


@pytest.mark.parametrize(
    ("width", "ticks"), [(10, 2), (119, 2), (120, 3), (199, 4), (200, 5), (900, 5)]
)
def test_wide_axes_have_more_ticks(width, ticks):
    layout = Layout(width=240, panel=50, font=10)
    assert value_axis([1.0, 3.0], width, layout, reverse=True) == {
        "scale": {"domain": [0.9, 3.1], "nice": False, "zero": False, "reverse": True},
        "axis": {
            "title": None,
            "tickCount": ticks,
            "format": ".6~g",
            "labelFlush": True,
        },
    }
    assert value_axis([1.0, 3.0], width, layout, 0.5)["scale"]["domain"] == [0.0, 4.0]


def test_names_keep_their_order_on_an_axis_without_ticks():
    assert name_axis("system", ["b", "a"], labelAngle=-45) == {
        "field": "system",
        "type": "nominal",
        "sort": ["b", "a"],
        "axis": {"title": None, "ticks": False, "domain": False, "labelAngle": -45},
    }


def test_positions_run_from_the_worst_to_the_best_colour():
    color = position_color(LAYOUT)
    assert color["scale"] == {
        "domain": [0, 1],
        "range": list(SEQUENTIAL),
        "interpolate": "lab",
    }
    assert color["legend"] == {
        "title": None,
        "orient": "bottom",
        "values": [0, 1],
        "labelExpr": "datum.value ? 'best' : 'worst'",
        "gradientLength": 100,
        "gradientThickness": 8,
    }


def test_shape_and_colour_together_name_a_series():
    names = [str(k) for k in range(49)]
    shapes = series_channels("model", names, None)[1]["scale"]["range"]
    assert len({(k % 7, shape) for k, shape in enumerate(shapes)}) == 49


def test_the_second_round_of_shapes_begins_one_later():
    shapes = series_channels("model", [str(k) for k in range(16)], None)[1]["scale"][
        "range"
    ]
    assert shapes == [*SHAPES, *SHAPES[1:], SHAPES[0], *SHAPES[2:4]]


def test_legends_fit_below_the_figure():
    layout = Layout(width=240, panel=50, font=8)
    assert legend_below(["a", "b", "c"], layout)["columns"] > 3
    assert legend_below(["a" * 100], layout, least=1)["columns"] == 1
    assert legend_below(["a"], layout) is None
    assert legend_below(["a", "b"], layout) == {
        "title": None,
        "orient": "bottom",
        "columns": 7,
    }, "a name and its mark take 32 of 240"
