"""The field of captions among several with texts."""

from __future__ import annotations

from collections import Counter

import pytest

from harness.errors import InputError
from harness.files.forms.field_choice import choose_field, list_or_none
from harness.files.forms.record_forms import Conversion
from harness.files.records import Record

ROW = Record("f: record 1", {})


def choose(texts, *names):
    return choose_field(texts, ROW, Conversion("candidates", Counter(), names))


def test_the_only_field_needs_no_name():
    assert choose({"q1": ["a dog"]}) == ["a dog"]
    assert choose({}) == []


def test_the_users_name_comes_before_a_usual_one():
    texts = {"caption": ["a dog"], "notes": ["blurred"]}
    assert choose(texts) == ["a dog"]
    assert choose(texts, "notes") == ["blurred"]


def test_two_fields_of_unknown_names_are_refused():
    with pytest.raises(InputError, match="^f: record 1: has texts in 2 fields, 'a', "):
        choose({"a": ["x"], "b": ["y"]})


def test_no_texts_are_null():
    assert (list_or_none([]), list_or_none(["a"])) == (None, ["a"])
