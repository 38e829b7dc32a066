"""Charts."""

from __future__ import annotations

import sys

import pytest

from harness.errors import MissingExtra
from harness.reporting.charts.chart import Chart
from harness.reporting.charts.overview import overview
from harness.reporting.charts.style import PAGE


def test_the_specification_is_that_of_a_page():
    chart = Chart("one", "One", "A caption.", "views", lambda layout: {"width": layout.width})
    assert chart.spec == {"width": PAGE.width}
    assert repr(chart) == "<chart one: One>"


def test_a_chart_is_an_altair_chart_with_the_fonts_of_the_light_style(captions_run):
    altair = pytest.importorskip("altair")
    drawn = overview(captions_run)[0].altair()
    assert isinstance(drawn, altair.LayerChart)
    assert drawn.to_dict()["config"]["background"] == "white"


def test_without_altair_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"a chart in a notebook needs the package 'altair'.*caption-harness\[figures\]"):
        Chart("one", "One", "A caption.", "views", lambda layout: {}).altair()
