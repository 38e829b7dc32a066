"""Texts with times."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.events import has_times, resolve_events
from harness.files.records import Record

FORMS = [
    {
        "id": "v",
        "sentences": ["a man runs", "he falls"],
        "timestamps": [[0, 4.5], [4, 9]],
    },
    {
        "id": "v",
        "sentences": ["a man runs", "he falls"],
        "segments": [{"start": 0, "end": 4.5}, {"start": 4, "end": 9}],
    },
    {
        "id": "v",
        "sentences": [
            {"sentence": "a man runs", "timestamp": [0, 4.5]},
            {"sentence": "he falls", "timestamp": [4, 9]},
        ],
    },
    {
        "id": "v",
        "sentences": [
            {"text": "a man runs", "start": 0, "end": 4.5},
            {"text": "he falls", "start": 4, "end": 9},
        ],
    },
]


def resolve(fields, events, captions="sentences") -> list[dict[str, object]]:
    return [
        dict(row.fields)
        for row in resolve_events([Record("f:1", fields)], "id", captions, events)
    ]


@pytest.mark.parametrize("fields", FORMS)
def test_texts_with_times_need_a_treatment(fields):
    assert has_times(fields)
    with pytest.raises(
        InputError,
        match=r"f:1: 'sentences' holds 2 texts with times.*\(events: "
        r"paragraph joins .*; events: separate makes",
    ):
        resolve(fields, None)
    assert [row["sentences"] for row in resolve(fields, "paragraph")] == [
        "a man runs he falls"
    ]
    rows = resolve(fields, "separate")
    assert [
        (row["id"], row["sentences"], row["start"], row["end"]) for row in rows
    ] == [
        ("v#1", "a man runs", 0, 4.5),
        ("v#2", "he falls", 4, 9),
    ]


def test_a_single_text_with_times_is_one_text():
    assert (
        resolve({"id": "v", "sentences": ["a man runs"], "timestamps": [[0, 4]]}, None)[
            0
        ]["sentences"]
        == "a man runs"
    )


def test_other_numbers_of_times_are_refused():
    with pytest.raises(
        InputError,
        match="f:1: 'sentences' has 2 texts and 1 times; "
        "expected as many times as texts",
    ):
        resolve(
            {"id": "v", "sentences": ["a", "b"], "timestamps": [[0, 4]]}, "paragraph"
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "v", "sentences": ["a", "b"], "timestamp": "2026-01-01"},
        {"id": "v", "sentences": ["a", "b"], "segments": ["x", "y"]},
        {"id": "v", "sentences": "a man", "timestamps": [[0, 4]]},
        {"id": "v", "sentences": ["a", "b"]},
    ],
)
def test_other_fields_are_no_times(fields):
    assert resolve(fields, None) == [fields]
