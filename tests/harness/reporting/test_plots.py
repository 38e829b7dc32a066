"""Views drawn as SVG."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from harness.reporting.plots import draw
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

pytest.importorskip("matplotlib")
RECORDS = [
    ResultRecord(
        model=model, metric=metric, value=value + temperature, decoding={"temperature": temperature},
        ci95=(value + temperature - 0.1, value + temperature + 0.1), higher_is_better=True,
    )
    for model, metric, value in (("one", "cider", 1.0), ("two", "cider", 2.0), ("one", "bleu", 3.0), ("two", "bleu", 4.0))
    for temperature in (0.5, 0.7)
]  # fmt: skip


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")]


@pytest.mark.parametrize("plot", ["line", "scatter", "bar", "heatmap"])
def test_every_kind_of_plot_has_labels_of_both_axes_and_series(plot):
    view = ViewSpec(plot=plot, x="decoding.temperature", y="cider", by="model", title="A title")
    svg = draw(view, RECORDS)
    assert svg.startswith("<svg")
    labels = texts(svg)
    assert {"one", "two", "temperature", "A title"} <= set(labels)
    assert ("cider" in labels) == (plot != "heatmap")


def test_the_same_view_is_the_same_text():
    view = ViewSpec(plot="line", x="decoding.temperature", y="cider", by="model")
    assert draw(view, RECORDS) == draw(view, RECORDS)


def test_texts_on_an_axis_are_its_ticks():
    labels = texts(draw(ViewSpec(plot="bar", x="model", y="cider"), RECORDS[:4:2]))
    assert {"one", "two"} <= set(labels)


def test_a_line_has_its_interval_as_an_area():
    view = ViewSpec(plot="line", x="decoding.temperature", y="cider", by="model")
    assert len(re.findall(r'id="(?:Fill|Poly)[^"]*"', draw(view, RECORDS))) == 2


def test_metrics_against_each_other():
    labels = texts(draw(ViewSpec(plot="scatter", x="metric:bleu", y="cider", by="model"), RECORDS))
    assert {"bleu", "cider", "one", "two"} <= set(labels)


@pytest.mark.parametrize("title", [r"$\frac{$", "$", "$$x$$", "a_b^{", r"\alpha", "100 $ or 50 $"])
@pytest.mark.parametrize("plot", ["line", "heatmap", "bar"])
def test_texts_are_no_formulas(title, plot):
    records = [replace(RECORDS[0], model=title, metric=title)]
    svg = draw(ViewSpec(plot=plot, x="model", y=title, title=title), records)
    assert title in texts(svg)
