"""Vega-Lite specifications as plain JSON."""

from __future__ import annotations

import math

import pytest

from harness.reporting.charts.chart import SEQUENTIAL, SHAPES, Layout
from harness.reporting.charts.vega import (
    banded_lines,
    distinct,
    equal,
    finish_chart,
    interval_points,
    layer,
    legend_below,
    mark,
    name_axis,
    nominal,
    pad_ends,
    panel_grid,
    panels,
    position_color,
    quantitative,
    series_channels,
    source,
    squares,
    value_axis,
)

POINT = mark(
    "point",
    {"size": 4},
    x=quantitative("x", axis={"title": None}),
    y=nominal("name", sort=["b", "a"]),
)
LAYOUT = Layout(width=240, panel=50, font=10)


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
    x = nominal("x")
    y = nominal("y")
    _, text = squares(
        x,
        y,
        quantitative("position"),
        "datum.position > 0.8",
        {},
        Layout(width=100, panel=50, font=10),
        [],
    )
    color = text["encoding"]["color"]
    assert [case["value"] for case in color["condition"]] == [
        "white",
        "black",
    ] and "value" not in color


def test_one_panel_is_a_chart_of_its_own():
    assert panels([POINT], 1) == POINT
    assert panels([POINT, POINT], 2) == {"concat": [POINT, POINT], "columns": 2}


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


def test_the_first_panel_of_each_row_has_labels():
    layout = Layout(width=240, panel=50, font=10)
    drawn: list = []

    def panel(name, width, first):
        drawn.append((name, width, first))
        return {"title": name}

    spec = panel_grid(list("abcde"), layout, ["x" * 4], panel)
    assert spec == {"concat": [{"title": name} for name in "abcde"], "columns": 3}
    assert [(name, first) for name, _, first in drawn] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("d", True),
        ("e", False),
    ]
    assert {width for _, width, _ in drawn} == {(240 - 20 - 2 * 16) / 3}
    assert panel_grid(["a"], layout, [], panel) == {"title": "a"}


def test_names_keep_their_order_on_an_axis_without_ticks():
    assert name_axis("system", ["b", "a"], labelAngle=-45) == {
        "field": "system",
        "type": "nominal",
        "sort": ["b", "a"],
        "axis": {"title": None, "ticks": False, "domain": False, "labelAngle": -45},
    }


def test_rows_of_a_chart_keep_the_order_of_their_names():
    assert distinct([{"x": "b"}, {"x": "a"}, {"x": "b"}], "x") == ["b", "a"]


X = quantitative("x")
Y = nominal("y")
COLOR, SHAPE, DASH = series_channels("line", ["a", "b"], None)


def test_points_have_their_intervals_below_them():
    looks = {"better": ("circle", "blue"), "worse": ("square", "red")}
    rule, point = interval_points(
        "value", {"axis": 1}, Y, "verdict", looks, {"title": None}, 0.5, LAYOUT, [X]
    )
    shape = nominal(
        "verdict",
        scale={"domain": ["better", "worse"], "range": ["circle", "square"]},
        legend={"title": None},
    )
    color = nominal(
        "verdict",
        scale={"domain": ["better", "worse"], "range": ["blue", "red"]},
        legend={"title": None},
    )
    assert rule == mark(
        "rule",
        {"strokeWidth": pytest.approx(1.4)},
        where="isValid(datum.low)",
        x=quantitative("low", axis=1),
        x2={"field": "high"},
        y=Y,
        color=color,
    )
    look = {"filled": True, "opacity": 1, "size": 50}
    assert point == mark(
        "point",
        look,
        x=quantitative("value", axis=1),
        y=Y,
        color=color,
        shape=shape,
        tooltip=[X],
    )


def test_lines_have_bands_and_points():
    band, line, point = banded_lines(
        X, {"scale": 2}, (COLOR, SHAPE, DASH), 0.5, LAYOUT, [Y]
    )
    y = quantitative("y", scale=2)
    assert band == mark(
        "area",
        {"opacity": 0.18},
        where="isValid(datum.low)",
        x=X,
        y=quantitative("low", scale=2),
        y2={"field": "high"},
        color=COLOR,
    )
    assert line == mark(
        "line",
        {"strokeWidth": pytest.approx(1.4)},
        x=X,
        y=y,
        color=COLOR,
        strokeDash=DASH,
    )
    assert point == mark(
        "point",
        {"filled": True, "opacity": 1, "size": 50},
        x=X,
        y=y,
        color=COLOR,
        shape=SHAPE,
        tooltip=[Y],
    )


def test_squares_have_their_text_in_black_or_white():
    square, text = squares(
        X, Y, COLOR, "datum.r > 0.5", {"strokeWidth": 1}, LAYOUT, [X]
    )
    assert square == mark(
        "rect",
        {"stroke": "white", "strokeWidth": 1},
        x=X,
        y=Y,
        color=COLOR,
        tooltip=[X],
    )
    cases = [
        {"test": "datum.r > 0.5", "value": "white"},
        {"test": "isValid(datum.position) || isValid(datum.r)", "value": "black"},
    ]
    assert text == mark(
        "text",
        {"fontSize": pytest.approx(9.2)},
        x=X,
        y=Y,
        text=nominal("text"),
        color={"condition": cases},
    )


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


def test_data_has_null_for_what_json_lacks():
    spec = finish_chart(
        mark("point", {}, data="rows"), rows=[{"x": math.inf, "y": 1.5, "z": "text"}]
    )
    assert spec["datasets"] == {"rows": [{"x": None, "y": 1.5, "z": "text"}]}
    assert "config" not in spec


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
