"""Values of the fields of a record."""

from __future__ import annotations

import pytest

from harness.files.fields import get_field, has_field


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("response.body.choices.0.message.content", "a dog"),
        ("response.body.choices.message.content", ["a dog", "the dog"]),
        ("doc.image.id", 7),
        ("response.status", None),
        ("response.body.choices.9.message", None),
        ("a.b", "plain"),
    ],
)
def test_dotted_paths(column, value):
    fields = {
        "response": {
            "body": {
                "choices": [
                    {"message": {"content": "a dog"}},
                    {"message": {"content": "the dog"}},
                ]
            }
        },
        "doc.image": {"id": 7},
        "a.b": "plain",
        "a": {"b": "nested"},
    }
    assert get_field(fields, column) == value
    assert has_field(fields, column) == (value is not None)
