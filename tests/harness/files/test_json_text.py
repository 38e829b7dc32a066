"""JSON of somebody else: nesting is bounded."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.files.json_text import MAX_LEVELS, parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda items: st.lists(items) | st.dictionaries(st.text(), items),
)


@given(VALUES)
def test_values_are_those_of_the_standard_library(value):
    text = json.dumps(value)
    assert parse_json(text) == parse_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("kind", [str, str.encode])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a_value_has_at_most_a_hundred_levels(kind, opening, closing):
    def nested(levels: int) -> str:
        return opening * levels + "1" + closing * levels

    assert parse_json(kind(nested(MAX_LEVELS)))
    for levels in (MAX_LEVELS + 1, 500, 20_000):
        with pytest.raises(ValueError, match="nested more than 100 levels deep"):
            parse_json(kind(nested(levels)))


def test_brackets_side_by_side_and_in_texts_are_no_levels():
    value = [[], {}, "[" * 1000] * 200
    assert parse_json(json.dumps(value)) == value
