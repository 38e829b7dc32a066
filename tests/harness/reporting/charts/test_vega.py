"""Vega-Lite specifications as plain JSON."""

from __future__ import annotations

import math

import pytest

from harness.reporting.charts.chart import Layout
from harness.reporting.charts.vega import (
    equal,
    finish_chart,
    layer,
    legend_below,
    mark,
    nominal,
    pad_ends,
    quantitative,
    series_channels,
    source,
    squares,
)

POINT = mark("point", {"size": 4}, x=quantitative("x", axis={"title": None}), y=nominal("name", sort=["b", "a"]))


def test_a_mark_has_its_look_and_its_channels():
    assert POINT == {
        "mark": {"type": "point", "size": 4},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": {"title": None}},
            "y": {"field": "name", "type": "nominal", "sort": ["b", "a"]},
        },
    }


def test_layers_share_their_rows():
    rule = mark("rule", {}, data="lines", where="isValid(datum.low)", x={"datum": 0})
    both = layer(POINT, rule, data="points", where=equal("metric", "cider"), width=200)
    assert both == {
        "data": {"name": "points"},
        "transform": [{"filter": {"field": "metric", "equal": "cider"}}],
        "layer": [POINT, rule],
        "width": 200,
    }
    assert rule["data"] == {"name": "lines"}
    assert rule["transform"] == [{"filter": "isValid(datum.low)"}]


def test_rows_without_a_name_or_condition_are_those_around():
    assert source("") == {}
    assert source("points") == {"data": {"name": "points"}}


def test_a_text_without_a_square_has_the_colour_of_the_style():
    x, y = nominal("x"), nominal("y")
    _, text = squares(x, y, quantitative("position"), "datum.position > 0.8", {}, Layout(width=100, panel=50, font=10), [])
    color = text["encoding"]["color"]
    assert [case["value"] for case in color["condition"]] == ["white", "black"] and "value" not in color


def test_axes_have_a_margin():
    assert pad_ends([1.0, None, math.nan, 3.0], 0.05) == [0.9, 3.1]
    low, high = pad_ends([2.0])
    assert (low, high) == pytest.approx((1.9, 2.1))
    assert pad_ends([0.0])[0] < 0
    assert pad_ends([]) == [-0.05, 1.05]


def test_data_has_null_for_what_json_lacks():
    spec = finish_chart(mark("point", {}, data="rows"), rows=[{"x": math.inf, "y": 1.5, "z": "text"}])
    assert spec["datasets"] == {"rows": [{"x": None, "y": 1.5, "z": "text"}]}
    assert "config" not in spec


def test_shape_and_colour_together_name_a_series():
    names = [str(k) for k in range(49)]
    shapes = series_channels("model", names, None)[1]["scale"]["range"]
    assert len({(k % 7, shape) for k, shape in enumerate(shapes)}) == 49


def test_legends_fit_below_the_figure():
    layout = Layout(width=240, panel=50, font=8)
    assert legend_below(["a", "b", "c"], layout)["columns"] > 3
    assert legend_below(["a" * 100], layout, least=1)["columns"] == 1
    assert legend_below(["a"], layout) is None
