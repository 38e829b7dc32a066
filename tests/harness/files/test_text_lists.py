"""Texts per example from Python values."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness.files.text_lists import by_text_id, matched_ids, texts_of, texts_per_example


@pytest.mark.parametrize(
    "value",
    [
        ["a", "b"],
        ("a", "b"),
        np.array(["a", "b"]),
        [["a"], ("b",)],
        [[{"caption": "a"}], [{"caption": "b"}]],
        [{"caption": "a"}, {"caption": "b"}],
    ],
)
def test_one_text_per_example(value):
    assert texts_per_example(value, "candidates") == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a", None], "candidates: example 1: expected a text or a list of texts; found None"),
        ([["a"], float("nan")], "candidates: example 1: expected a text or a list of texts; found nan"),
        ("a dog", "candidates: expected a list with one list of texts, or one text, per example; found 'a dog'"),
        ({"a", "b"}, "candidates: expected a list"),
        ([["a"], "b"], "candidates: example 1: is a text, example 0 is a list; expected one kind"),
        ([["a"], [None]], "candidates: example 1: the caption is null; expected text"),
        ([[]], "candidates: example 0: the list is empty"),
        ([["a", ["b"]]], "candidates: example 0: the caption is a list; expected text"),
    ],
)
def test_mistakes_name_their_place(value, message):
    with pytest.raises(InputError) as caught:
        texts_per_example(value, "candidates")
    assert str(caught.value).startswith(message)


def test_ids_are_matched_in_the_order_of_the_references():
    assert matched_ids({"b": 1, "a": 1}, {"a": 1, "b": 1}, allow_missing=False, allow_unknown=False) == ["a", "b"]
    assert matched_ids({"z": 1, "a": 1}, {"a": 1, "b": 1}, allow_missing=True, allow_unknown=True) == ["a"]
    assert texts_of({"caption": "a"}, "here") == ("a",)
    many = {str(k): 1 for k in range(500)}
    with pytest.raises(InputError, match=r"500 ids have no references: '0', '1', '2', \.\.\. \(allow_unknown: true"):
        matched_ids(many, {"a": 1}, allow_missing=False, allow_unknown=False)


def test_ids_are_texts_as_in_files():
    assert by_text_id({42: "a", "x": "b"}, "candidates") == {"42": "a", "x": "b"}
    with pytest.raises(InputError, match="candidates: 1 ids occur as a number and as a text: '42'"):
        by_text_id({42: "a", "42": "b"}, "candidates")
