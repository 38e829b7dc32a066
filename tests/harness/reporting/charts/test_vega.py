"""Vega-Lite specifications as plain JSON."""

from __future__ import annotations

from harness.reporting.charts.vega import equal, layer, mark, nominal, quantitative, source, when

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


def test_a_condition_chooses_between_two_channels():
    color = when("isValid(datum.r)", quantitative("r"), {"value": "#eeeeee"})
    assert color == {
        "condition": {"test": "isValid(datum.r)", "field": "r", "type": "quantitative"},
        "value": "#eeeeee",
    }
