"""Marks of several charts."""

from __future__ import annotations

import pytest

from harness.page.charts.axes import series_channels
from harness.page.charts.chart import Layout
from harness.page.charts.shared_marks import banded_lines, interval_points, squares
from harness.page.charts.vega import mark, nominal, quantitative

LAYOUT = Layout(width=240, panel=50, font=10)
X = quantitative("x")
Y = nominal("y")
COLOR, SHAPE, DASH = series_channels("line", ["a", "b"], None)


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
