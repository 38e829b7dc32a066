"""Charts as SVG, PDF and PNG."""

from __future__ import annotations

import re
import zlib
from xml.etree import ElementTree

import pytest

from harness.reporting.charts import SINGLE, charts_for
from harness.reporting.charts.drawing import fitted_svg, pdf, png, svg, width_of

pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def drawn(captions_run):
    return {chart.id: fitted_svg(chart, SINGLE) for chart in charts_for([captions_run])}


def test_figures_are_no_wider_than_their_column(drawn):
    for name, text in drawn.items():
        assert width_of(text) <= SINGLE.width + 1, name
        assert width_of(text) > 0.5 * SINGLE.width, name


def test_figures_have_their_texts_as_text(drawn):
    root = ElementTree.fromstring(drawn["differences"])
    texts = {element.text for element in root.iter() if element.tag.endswith("}text")}
    assert {"bleu1 ↑", "people − other <b>scene</b>", "not significant"} <= texts


def test_the_same_chart_is_the_same_text(captions_run):
    chart = charts_for([captions_run])[1]
    assert svg(chart.build(SINGLE), "paper", SINGLE) == svg(chart.build(SINGLE), "paper", SINGLE)


def test_a_pdf_has_the_size_of_the_figure_and_its_fonts(drawn):
    data = pdf(drawn["overview"])
    assert data.startswith(b"%PDF")
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S)
    text = data + b"".join(_inflated(stream) for stream in streams)
    assert b"FontFile" in text
    box = re.search(rb"/MediaBox ?\[([^\]]*)\]", text)
    assert box is not None
    assert float(box[1].split()[2]) == pytest.approx(width_of(drawn["overview"]), abs=1)


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_a_png_is_an_image(drawn):
    assert png(drawn["plane-1"]).startswith(b"\x89PNG")
