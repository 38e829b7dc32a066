"""Regions of Visual Genome and of densecap."""

from __future__ import annotations

import json

import pytest

import harness
from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness.registry import current

REGIONS = [
    {"phrase": "a dog runs", "x": 10, "y": 20, "width": 20, "height": 10},
    {"phrase": "a red car", "x": 100, "y": 20, "width": 20, "height": 10},
]
FOUND = {
    "img_name": "1.jpg",
    "boxes": [[10, 20, 20, 10], [101, 20, 20, 10]],
    "captions": ["a dog runs", "a blue car"],
    "scores": [2.5, -1.0],
}


@pytest.fixture
def save(tmp_path):
    def write(value, name):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return str(path)

    return write


def test_boxes_are_the_pixels_at_their_edges(save):
    path = save([{"id": 1, "regions": REGIONS}], "regions.json")
    (example,) = current().create("readers", "auto", {"path": path, "events": "sets"})
    assert example.id == "1"
    assert EventSet.from_text(example.references[0]).events == (
        Event("a dog runs", (10.0, 20.0, 29.0, 29.0)),
        Event("a red car", (100.0, 20.0, 119.0, 29.0)),
    )


def test_the_id_of_an_image_may_be_that_of_its_regions(save):
    regions = [{**region, "image_id": 7} for region in REGIONS]
    path = save([{"regions": regions}], "regions.json")
    (example,) = current().create("readers", "auto", {"path": path, "events": "sets"})
    assert example.id == "7"


def test_results_are_scored_against_annotations(save):
    references = save([{"id": 1, "regions": REGIONS}], "regions.json")
    candidates = save({"opt": {}, "results": [FOUND]}, "results.json")
    dense = {"dense": {"protocol": "densecap"}}
    (result,) = harness.score(candidates, references, dense).values()
    assert 0.5 < result.value < 1
    (whole,) = harness.score(references, references, "dense").values()
    assert whole.value == pytest.approx(1.0)


def test_regions_are_no_alternatives(save):
    path = save([{"id": 1, "regions": REGIONS}], "regions.json")
    with pytest.raises(InputError, match="2 texts with boxes: captions of parts"):
        list(current().create("readers", "auto", {"path": path}))
    params = {"path": path, "events": "separate"}
    examples = list(current().create("readers", "auto", params))
    assert [(item.id, item.references) for item in examples] == [
        ("1#1", ("a dog runs",)),
        ("1#2", ("a red car",)),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boxes": [[10, 20, 20]]}, "expected left, top, width and height"),
        ({"boxes": [[10, 20, 0, 5]]}, "width 0 and height 5; expected both above 0"),
        ({"boxes": 3}, "'boxes' is the number 3; expected a list"),
        ({"boxes": [[10, 20, 20, 10]]}, "2 texts and 1 times"),
        ({"scores": ["a", "b"]}, "the score is text; expected a number"),
    ],
)
def test_what_is_no_region_is_one_line(save, change, message):
    path = save({"results": [{**FOUND, **change}]}, "results.json")
    params = {"path": path, "events": "sets"}
    with pytest.raises(InputError, match=message):
        list(current().create("readers", "auto", params))
