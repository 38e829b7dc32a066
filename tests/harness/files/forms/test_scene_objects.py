"""Objects of scenes: descriptions and predictions."""

from __future__ import annotations

import json

import pytest

import harness
from harness.contracts import EventSet
from harness.errors import InputError
from harness.files.forms import read_form
from harness.registry import current


def cube(size):
    """Return the corners of a cube at the origin."""
    base = ((0, 0), (0, size), (size, size), (size, 0))
    return [[x, y, z] for z in (0, size) for x, y in base]


DESCRIPTIONS = [
    {"scene_id": "s", "object_id": 3, "token": ["a", "bed", "."], "bbox": cube(2)},
    {"scene_id": "t", "object_id": 1, "description": "a sofa", "bbox": cube(1)},
    {"scene_id": "s", "object_id": 3, "token": ["it", "is"], "bbox": cube(2)},
]
PREDICTIONS = {
    "s": [{"caption": "sos a bed . eos", "box": cube(2), "cls": 4, "conf": 0.5}],
    "t": [],
}


@pytest.fixture
def save(tmp_path):
    def write(value, name="file.json"):
        path = tmp_path / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


def test_descriptions_of_a_scene_are_one_set_with_objects_as_labels(save):
    params = {"path": str(save(DESCRIPTIONS)), "events": "sets"}
    first, second = current().create("readers", "auto", params)
    assert (first.id, second.id) == ("s", "t")
    events = EventSet.from_text(first.references[0]).events
    assert [(event.text, event.label) for event in events] == [
        ("a bed .", "3"),
        ("it is", "3"),
    ]
    assert {event.geometry for event in events} == {"box3d"}
    (sofa,) = EventSet.from_text(second.references[0]).events
    assert sofa.text == "a sofa"


def test_predictions_keep_confidence_and_class(save):
    form = read_form(save(PREDICTIONS), "candidates")
    first, second = (row.fields for row in form.rows)
    assert (form.name, first["scores"], first["labels"]) == (
        "scene-objects",
        [0.5],
        [4],
    )
    assert second["captions"] is None


def test_predictions_are_scored_against_descriptions(save):
    references = save(DESCRIPTIONS, "references.json")
    candidates = save(PREDICTIONS, "predictions.json")
    dense = {"dense": {"protocol": "vote2cap", "text": "bleu1", "tious": [0.25]}}
    (result,) = harness.score(str(candidates), str(references), dense).values()
    assert 0 < result.value <= 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"s": [*PREDICTIONS["s"], {"caption": "a"}]}, "'s': object 2 is"),
        ([*DESCRIPTIONS] * 2 + [{"scene_id": "s"}], "record 7: expected 'scene_id'"),
    ],
)
def test_what_is_no_object_is_one_line(save, content, message):
    with pytest.raises(InputError, match=message):
        list(read_form(save(content), "candidates").rows)


def test_marks_are_no_words_and_a_confidence_is_of_all_or_none(save):
    rows = [{"caption": "sos a red sofa eos", "box": cube(1), "conf": 0.5, "cls": 1}]
    (row,) = read_form(save({"s": rows}), "candidates").rows
    assert row.fields["captions"] == ["a red sofa"]
    rows.append({"caption": "sos eos", "box": cube(1), "cls": 1})
    with pytest.raises(InputError, match="object 2 has no 'conf', which others have"):
        list(read_form(save({"s": rows}), "candidates").rows)
