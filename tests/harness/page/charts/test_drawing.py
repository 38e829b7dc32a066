"""Charts as SVG, PDF and PNG."""

from __future__ import annotations

import base64
import hashlib
import re
import resource
import zlib
from xml.etree import ElementTree

import pytest

from harness.errors import HarnessError
from harness.page.charts import SINGLE, charts_for, drawing
from harness.page.charts.drawing import (
    FOLDER,
    WEIGHTS,
    fitted_svg,
    pdf,
    png,
    svg,
    width_of,
    with_font,
)

pytest.importorskip("vl_convert")
TEXT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><text '
    'font-weight="bold">a</text></svg>'
)


@pytest.fixture(scope="module")
def drawn(captions_run):
    return {chart.id: fitted_svg(chart, SINGLE) for chart in charts_for([captions_run])}


def test_figures_are_no_wider_than_their_column(drawn):
    for name, text in drawn.items():
        assert width_of(text) <= SINGLE.width + 1, name
        assert width_of(text) > 0.5 * SINGLE.width, name


def test_a_figure_is_drawn_again_while_it_becomes_narrower(captions_run, monkeypatch):
    widths = iter([300, 280, 290, 200])
    monkeypatch.setattr(
        drawing, "svg", lambda *_: f'<svg width="{next(widths)}" height="10">'
    )
    assert width_of(fitted_svg(charts_for([captions_run])[0], SINGLE)) == 280
    assert next(widths) == 200


def test_figures_have_their_texts_as_text(drawn):
    root = ElementTree.fromstring(drawn["differences"])
    texts = {element.text for element in root.iter() if element.tag.endswith("}text")}
    assert {"BLEU-1 ↑", "people − other <b>scene</b>", "not significant"} <= texts


def test_the_same_chart_is_the_same_text(captions_run):
    chart = charts_for([captions_run])[1]
    assert svg(chart.build(SINGLE), "paper", SINGLE) == svg(
        chart.build(SINGLE), "paper", SINGLE
    )


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


def test_the_weights_in_use_are_embedded():
    text = with_font(TEXT)
    ElementTree.fromstring(text)
    fonts = re.findall(r"base64,([^)]*)\)", text)
    assert [base64.b64decode(font)[:4] for font in fonts] == [b"wOF2", b"wOF2"]
    assert len(re.findall("base64,", with_font(TEXT.replace("bold", "normal")))) == 1


def test_the_files_are_those_that_the_readme_names():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in WEIGHTS.values():
        assert (
            f"{hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()}  {name}"
            in readme
        )
    assert "SIL OPEN FONT LICENSE" in (FOLDER / "OFL.txt").read_text(encoding="utf-8")


def test_a_limit_of_addresses_is_one_line(monkeypatch):
    monkeypatch.setattr(
        resource, "getrlimit", lambda kind: (10 << 30, resource.RLIM_INFINITY)
    )
    with pytest.raises(
        HarnessError,
        match="reserves 72 GiB of addresses .not memory., and ulimit -v permits 10 GiB",
    ):
        drawing.converter()
