"""Vega-Lite specifications as plain JSON."""

from __future__ import annotations

import math

from harness.page.charts.chart import Layout
from harness.page.charts.vega import (
    distinct,
    equal,
    finish_chart,
    layer,
    mark,
    nominal,
    panel_grid,
    panels,
    quantitative,
    source,
)

POINT = mark(
    "point",
    {"size": 4},
    x=quantitative("x", axis={"title": None}),
    y=nominal("name", sort=["b", "a"]),
)


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


def test_one_panel_is_a_chart_of_its_own():
    assert panels([POINT], 1) == POINT
    assert panels([POINT, POINT], 2) == {"concat": [POINT, POINT], "columns": 2}


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


def test_rows_of_a_chart_keep_the_order_of_their_names():
    assert distinct([{"x": "b"}, {"x": "a"}, {"x": "b"}], "x") == ["b", "a"]


def test_data_has_null_for_what_json_lacks():
    spec = finish_chart(
        mark("point", {}, data="rows"), rows=[{"x": math.inf, "y": 1.5, "z": "text"}]
    )
    assert spec["datasets"] == {"rows": [{"x": None, "y": 1.5, "z": "text"}]}
    assert "config" not in spec
