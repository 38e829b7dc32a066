"""Sets of events of records."""

from __future__ import annotations

import pytest

from harness.contracts import Event, EventSet
from harness.errors import InputError
from harness.files.event_sets import event_set_rows
from harness.files.records import Record

BOX = [0, 1, 2, 3]


def read(*records, id_column="id", captions="sentences", is_video=False):
    """Return the sets by id."""
    rows = [Record(f"f:{number}", fields) for number, fields in enumerate(records, 1)]
    found = event_set_rows(rows, id_column, captions, is_video=is_video)
    return {
        row.fields.get("id"): EventSet.from_text(row.fields[captions]) for row in found
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"sentences": ["a", "b"], "timestamps": [[0, 4.5], [4, 9]]},
        {"sentences": ["a", "b"], "segments": [{"start": 0, "end": 4.5}, [4, 9]]},
        {
            "sentences": [
                {"sentence": "a", "timestamp": [0, 4.5]},
                {"text": "b", "start": 4, "end": 9},
            ]
        },
    ],
)
def test_times_beside_texts_or_in_objects(fields):
    sets = read({"id": "v", "duration": 9.0, **fields})
    expected = (Event("a", (0.0, 4.5)), Event("b", (4.0, 9.0)))
    assert sets == {"v": EventSet(expected, 9.0)}


def test_an_empty_list_is_a_set_of_no_events():
    assert read({"id": "v", "sentences": None, "timestamps": []}) == {"v": EventSet(())}
    assert read({"id": "v", "sentences": [], "timestamps": []}) == {"v": EventSet(())}


def test_records_of_one_event_form_the_set_of_their_id():
    sets = read(
        {"id": "v", "sentences": "a", "start": 0, "end": 1},
        {"id": "v", "sentences": "b", "start": 1, "end": 2},
        {"id": "w", "sentences": "c", "start": 0, "end": 2},
    )
    assert [len(own.events) for own in sets.values()] == [2, 1]


def test_the_cues_of_subtitles_are_the_events_of_one_video():
    sets = read(
        {"id": "1", "sentences": "a", "start": 0, "end": 1},
        {"id": "2", "sentences": "b", "start": 1, "end": 2},
        is_video=True,
    )
    assert {key: len(own.events) for key, own in sets.items()} == {"1": 2}


def test_the_answer_of_a_model_is_a_set():
    text = "0 - 4.5 seconds, a man runs. 4 - 9 seconds, he falls."
    sets = read({"id": "v", "sentences": text})
    assert sets["v"].events == (
        Event("a man runs.", (0.0, 4.5)),
        Event("he falls.", (4.0, 9.0)),
    )


def test_boxes_with_scores_and_labels():
    sets = read(
        {"id": "i", "sentences": ["a"], "boxes": [BOX], "scores": [0.5], "labels": [7]}
    )
    assert sets["i"].events == (Event("a", (0.0, 1.0, 2.0, 3.0), 0.5, "7"),)
    corners = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (0, 1), (1, 1), (1, 0))]
    sets = read({"id": "i", "sentences": ["a"], "boxes": [corners]})
    assert sets["i"].events[0].geometry == "box3d"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sentences": ["a"], "timestamps": []}, "1 texts and 0 times"),
        ({"sentences": ["a"]}, "texts without times or boxes"),
        ({"sentences": "a"}, "a text without a time or box"),
        ({"sentences": ["a"], "timestamps": [[-1, 2]]}, "is negative"),
        ({"sentences": ["a"], "timestamps": [[0, float("nan")]]}, "a finite number"),
        ({"sentences": ["a"], "timestamps": [[0, 1, 2]]}, "start and end in seconds"),
        ({"sentences": ["a"], "timestamps": [["0", "1"]]}, "expected a number"),
        ({"sentences": ["a"], "timestamps": "0-1"}, "a list of times or boxes"),
        ({"sentences": [3], "timestamps": [[0, 1]]}, "expected text"),
        ({"sentences": 3, "timestamps": [[0, 1]]}, "a list of texts"),
        (
            {"sentences": ["a"], "timestamps": [[0, 1]], "duration": 0},
            "duration is 0; expected seconds above 0",
        ),
    ],
)
def test_what_is_no_event_is_one_line(fields, message):
    with pytest.raises(InputError, match=message) as raised:
        read({"id": "v", **fields})
    assert str(raised.value).startswith("f:1")


def test_an_event_without_a_text_is_named():
    fields = {"id": "v", "captions": [{"timestamp": [0, 5], "score": 0.5}]}
    rows = event_set_rows([Record("f:1", fields)], "id", "captions", is_video=False)
    with pytest.raises(InputError, match="event 1: the event has no text; expected"):
        list(rows)
