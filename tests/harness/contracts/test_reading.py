"""The line of a reading of a file, and its fields as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.contracts import ListsIds, Reading, ShowsReadings

PLAIN = Reading("c.json", "candidates", "COCO results", "image_id", ("caption",), 2, 2)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {},
            "c.json: read as COCO results, ids by 'image_id', captions in 'caption': "
            "2 items, 2 captions",
        ),
        (
            {"id": None, "columns": (), "items": 1, "texts": 1},
            "c.json: read as COCO results, ids by position: 1 item, 1 caption",
        ),
        (
            {"id": "(keys)", "role": "references", "texts": 5, "columns": ("a", "b")},
            "c.json: read as COCO results, ids by key, references in 'a', 'b': "
            "2 items, 5 references",
        ),
        (
            {"other_ids": ("file",), "other_columns": ("text", "raw")},
            "c.json: read as COCO results, ids by 'image_id' (not 'file'), captions in "
            "'caption' (not 'text', 'raw'): 2 items, 2 captions",
        ),
        (
            {"remarks": ("ids match without '.jpg'",), "left_out": {"empty": 1234}},
            "c.json: read as COCO results, ids by 'image_id', captions in 'caption': "
            "2 items, 2 captions; ids match without '.jpg'; left out: empty (1,234)",
        ),
    ],
)
def test_a_reading_is_one_line(changes, line):
    assert replace(PLAIN, **changes).line() == line


def test_the_first_columns_are_named():
    line = replace(PLAIN, columns=tuple("abcdefg")).line()
    assert "captions in 'a', 'b', 'c', 'd', 'e', ...: " in line
    assert "'e': " in replace(PLAIN, columns=tuple("abcde")).line()


@pytest.mark.parametrize(
    ("changes", "decided"),
    [
        ({}, False),
        ({"possible_ids": ("id", "name")}, False),
        ({"other_ids": ("name",)}, True),
        ({"other_columns": ("raw",)}, True),
        ({"remarks": ("without suffix",)}, True),
        ({"left_out": {"empty": 1}}, True),
    ],
)
def test_a_choice_among_alternatives_is_a_decision(changes, decided):
    assert replace(PLAIN, **changes).decided is decided


def test_fields_are_json():
    reading = replace(PLAIN, examples={"1": ["a dog"]}, left_out={"empty": 1})
    values = reading.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["columns"] == ["caption"] and values["examples"] == {"1": ["a dog"]}
    assert Reading(**{**values, "columns": tuple(values["columns"])}).line() == (
        reading.line()
    )


def test_readers_are_known_by_their_methods():
    class Reader:
        def readings(self):
            return [PLAIN]

    assert isinstance(Reader(), ShowsReadings) and not isinstance(Reader(), ListsIds)
