"""Captions of one record."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.generated.record_signs import RecordSigns
from harness.files.records import Record
from harness_models.predictions.record_captions import (
    caption_columns,
    captions_of_record,
)
from harness_models.predictions.table import Choice


def read(fields, *columns, **choice):
    record = Record("a.json: record 1", fields)
    return captions_of_record(record, columns, Choice(**choice), RecordSigns())


def test_a_text_is_one_caption_and_a_list_several():
    one = read({"text": "a dog"}, "text")
    assert (one.texts, one.single) == (("a dog",), True)
    several = read({"text": ["a dog", "a cat"]}, "text")
    assert (several.texts, several.single) == (("a dog", "a cat"), False)
    assert read({"text": None}, "text").texts is None


def test_several_columns_are_one_set_in_their_order():
    fields = {"b": "a cat", "a": "a dog", "c": ""}
    assert read(fields, "a", "b", "c").texts == ("a dog", "a cat")


def test_systems_are_selected_from_an_object():
    fields = {"text": {"ours": "a dog", "theirs": ["a cat"]}}
    assert read(fields, "text", systems=("theirs", "ours")).texts == ("a cat", "a dog")
    with pytest.raises(InputError, match="no system 'our'; did you mean 'ours'"):
        read(fields, "text", systems=("our",))


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match="the record has no 'text'"):
        read({"caption": "a dog"}, "text")
    with pytest.raises(InputError, match="no column 'txt'; did you mean 'text'"):
        caption_columns([Record("a.json", {"text": "a dog"})], "txt")
