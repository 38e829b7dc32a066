"""Fields of objects in logs as columns."""

from __future__ import annotations

from harness.files.log_fields import prefix_fields


def test_texts_numbers_and_lists_of_texts_are_columns():
    document = {
        "image_id": 42,
        "caption": "a dog",
        "answers": ["a", "b"],
        "image": {"bytes": "x"},
        "boxes": [[1, 2]],
        "gap": None,
    }
    assert prefix_fields("doc", document) == {
        "doc.image_id": 42,
        "doc.caption": "a dog",
        "doc.answers": ["a", "b"],
    }


def test_what_is_no_object_has_no_fields():
    for value in (None, "a dog", [1], 3):
        assert prefix_fields("doc", value) == {}
