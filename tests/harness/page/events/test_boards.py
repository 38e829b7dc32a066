"""Boxes over images, and boxes in scenes from above."""

from __future__ import annotations

import re

import pytest

from harness.contracts import Event, EventSet
from harness.page.events.boards import Picture, boards_html, box_of, frame_of
from harness.page.events.scenes import scenes_of
from tests.support.event_runs import run_of

CORNERS = tuple(
    float(value) for x in (1, 3) for y in (2, 5) for z in (0, 1) for value in (x, y, z)
)


def scene_of(*places):
    events = tuple(Event(f"thing {k}", place) for k, place in enumerate(places))
    text = EventSet(events).to_text()
    drawn = scenes_of(run_of({"s": {"v": [text]}}, {"v": [text]}))
    return drawn.scenes[0]


def test_boxes_are_percentages_of_the_image():
    scene = scene_of((10.0, 20.0, 60.0, 70.0), (0.0, 0.0, 100.0, 50.0))
    page = boards_html(scene, Picture("data:image/webp;base64,AA", (100, 200)), 1.0)
    assert "left:10.00%;top:10.00%;width:50.00%;height:25.00%" in page
    assert page.count("data:image") == 1 and "aspect-ratio:100/200" in page
    assert "with-picture" in page


def test_the_smallest_box_is_on_top():
    scene = scene_of((10.0, 10.0, 20.0, 20.0), (0.0, 0.0, 100.0, 100.0))
    events = re.findall(r"data-event='(\d\.\d)'", boards_html(scene, None, 1.0))
    assert events == ["0.1", "1.1", "0.0", "1.0"]


def test_without_an_image_all_boxes_are_inside():
    scene = scene_of((-5.0, 10.0, 20.0, 20.0), (400.0, 0.0, 500.0, 8.0))
    frame = frame_of(scene, None)
    assert frame.left < -5 and frame.left + frame.width > 500
    assert frame.height >= frame.width / 2.5 - 1e-9
    assert "with-picture" not in boards_html(scene, None, 1.0)


def test_boxes_in_scenes_are_seen_from_above():
    assert box_of(Event("a chair", CORNERS)) == (1.0, -5.0, 3.0, -2.0)
    scene = scene_of(CORNERS)
    assert scene.geometry == "box3d" and "data-event" in boards_html(scene, None, 1.0)


@pytest.mark.parametrize("box", [(5.0, 5.0, 5.0, 5.0)])
def test_a_box_of_no_size_has_a_place(box):
    page = boards_html(scene_of(box), None, 1.0)
    assert "nan" not in page and "inf" not in page
