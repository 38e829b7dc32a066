"""JSON of somebody else: nesting is bounded."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.files.json_text import MAX_LEVELS, encode_row, parse_json, parse_row

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


def test_rows_come_back_and_are_one_line():
    row = {"candidates": ["a\ndog", "ein Hündchen 😀 \udc80"], "lengths": [3]}
    text = encode_row(row).encode()
    assert parse_row(text, zlib.crc32(text)) == row
    assert b"\n" not in text and text.isascii()


@pytest.mark.parametrize("text", [b"{", b"[1]", b"null", b"", b"\xff", None, 5, "{}"])
def test_what_is_no_object_is_no_row(text):
    assert (
        parse_row(text, zlib.crc32(text if isinstance(text, bytes) else b"{}")) is None
    )


@pytest.mark.parametrize("checksum", [0, None, b"1", "x"])
def test_a_row_with_another_checksum_is_damaged(checksum):
    assert parse_row(encode_row({"a": 1}).encode(), checksum) is None
