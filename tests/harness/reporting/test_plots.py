"""Views drawn as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from harness.reporting.plots import draw
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec

RECORDS = [
    ResultRecord(model=model, metric="cider", value=value, decoding={"temperature": t}, ci95=(value - 1, value + 1))
    for model, value in (("one", 1.0), ("two", 2.0))
    for t in (0.5, 0.7)
]


def texts(svg: str) -> set[str]:
    return {element.text or "" for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("}text")}


@pytest.mark.parametrize("plot", ["line", "scatter", "bar", "heatmap"])
def test_every_kind_of_plot_has_labels_of_both_axes_and_series(plot):
    labels = texts(draw(ViewSpec(plot=plot, x="decoding.temperature", y="cider", by="model"), RECORDS))
    assert {"one", "two", "temperature"} <= labels
    assert ("cider" in labels) == (plot != "heatmap")


def test_the_same_view_is_the_same_text():
    view = ViewSpec(plot="line", x="decoding.temperature", y="cider", by="model")
    assert draw(view, RECORDS) == draw(view, RECORDS)


def test_a_view_without_values_is_empty():
    assert draw(ViewSpec(plot="bar", y="cider"), [ResultRecord(model="one", metric="cider")]) == ""


@pytest.mark.parametrize("name", [r"$\frac{$", "<script>alert(1)</script>", "a.b[0]", "a'b\"c"])
def test_names_are_texts(name):
    record = ResultRecord(model=name, metric=name, value=1.0)
    assert name in texts(draw(ViewSpec(plot="bar", x="model", y=name), [record]))
