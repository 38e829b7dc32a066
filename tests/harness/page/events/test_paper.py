"""Figures of events for papers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from harness.contracts import Event, EventSet
from harness.page.charts import DOUBLE, SINGLE
from harness.page.charts.drawing import pdf
from harness.page.events.boards import Picture
from harness.page.events.paper import figures_of
from harness.page.events.scenes import scenes_of
from tests.support.event_runs import run_of, small_run

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("layout", [SINGLE, DOUBLE])
def test_a_timeline_is_as_wide_as_its_column_and_whole(layout):
    drawn = scenes_of(small_run())
    first, second = figures_of(drawn, {}, "2-")
    assert (first.id, second.title) == ("2-events-1", "Timeline of w")
    root = ET.fromstring(first.svg(layout))
    assert float(root.get("width")) == layout.width
    for shape in root.iter(f"{SVG}rect"):
        left, width = float(shape.get("x") or 0), float(shape.get("width"))
        assert left >= 0 and left + width <= layout.width
    assert len(root.findall(f"{SVG}line")) == len(drawn.scenes[0].pairs)
    assert pdf(first.svg(layout)).startswith(b"%PDF")


def test_the_caption_says_what_the_lines_are():
    first, _ = figures_of(scenes_of(small_run()), {})
    assert "Lines join the pairs that Dense (matched,meteor) matched" in first.caption
    without, _ = figures_of(scenes_of(small_run(["dense:protocol=soda-c"])), {})
    assert "Lines" not in without.caption and "<line" not in without.svg(SINGLE)


def test_boards_have_their_image_and_boxes():
    text = EventSet((Event("a dog", (10.0, 20.0, 60.0, 70.0)),)).to_text()
    (scene,) = scenes_of(run_of({"s": {"v": [text]}}, {"v": [text]})).scenes
    drawn = replace(scenes_of(small_run()), scenes=(scene,))
    picture = Picture("data:image/jpeg;base64,AA", (100, 200))
    (figure,) = figures_of(drawn, {"v": picture})
    root = ET.fromstring(figure.svg(SINGLE))
    (image,) = root.findall(f"{SVG}image")
    height, width = float(image.get("height")), float(image.get("width"))
    assert height == pytest.approx(2 * width, abs=0.02)
    assert "Boxes of annotators" in figure.caption
