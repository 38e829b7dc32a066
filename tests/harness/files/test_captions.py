"""Single values of records: texts, captions, ids and counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files import captions as checks
from harness.files.captions import (
    by_text_id,
    match_file_names,
    matched_ids,
    texts_of,
    texts_per_example,
)


def error_message(call, *args, **params) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **params)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a dog",
        "ein Hund läuft",
        "🐕‍🦺 runs",
        "כלב רץ",
        "e\u0301te\u0301",
        " spaced ",
        "a\tb\nc",
    ],
)
def test_valid_text_is_returned_unchanged(text):
    assert checks.caption(text, "f:1") == checks.check_text(text, "f:1") == text


@pytest.mark.parametrize(
    "value, expected",
    [
        ("", "f:1: empty caption '' (allow_empty: true keeps it)"),
        (" \n", "f:1: empty caption ' \\n' (allow_empty: true keeps it)"),
        (None, "f:1: the caption is null; expected text"),
        (3, "f:1: the caption is the number 3; expected text"),
        (float("nan"), "f:1: the caption is the number nan; expected text"),
        (True, "f:1: the caption is true; expected text"),
        (["a"], "f:1: the caption is a list; expected text"),
        ("a\0b", "f:1: the caption holds the character NUL: 'a\\x00b'"),
        (
            "a \ud83d",
            "f:1: the caption holds an unpaired surrogate, half of a character: "
            "'a \\ud83d'",
        ),
    ],
)
def test_bad_captions(value, expected):
    assert error_message(checks.caption, value, "f:1") == expected


def test_empty_captions_are_accepted_on_request():
    assert checks.caption("", "f:1", allow_empty=True) == ""
    assert checks.check_text("", "f:1") == ""


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_every_other_unicode_text_is_valid(text):
    assert checks.check_text(text, "f:1") == text


def test_captions_of_strings_objects_and_lists():
    assert checks.captions("a", "f") == ("a",)
    assert checks.captions(
        ["a", {"caption": "b"}, {"raw": "c", "tokens": []}], "f"
    ) == ("a", "b", "c")
    assert checks.captions([], "f") == ()


@pytest.mark.parametrize(
    "value, expected", [(7, "7"), ("7", "7"), (7.0, "7"), ("img_1", "img_1")]
)
def test_ids(value, expected):
    assert checks.identity(value, "f:1", "id") == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        (None, "f:1: 'id' is null; expected an id (a whole number or text)"),
        (True, "f:1: 'id' is true; expected an id (a whole number or text)"),
        (1.5, "f:1: 'id' is the number 1.5; expected an id (a whole number or text)"),
        (
            float("nan"),
            "f:1: 'id' is the number nan; expected an id (a whole number or text)",
        ),
        (
            float("inf"),
            "f:1: 'id' is the number inf; expected an id (a whole number or text)",
        ),
        ({}, "f:1: 'id' is an object; expected an id (a whole number or text)"),
        ("", "f:1: 'id' is empty; expected an id"),
    ],
)
def test_bad_ids(value, expected):
    assert error_message(checks.identity, value, "f:1", "id") == expected


@given(st.integers())
def test_integers_and_their_text_are_the_same_id(number):
    assert checks.identity(number, "f", "id") == checks.identity(str(number), "f", "id")


@pytest.mark.parametrize(
    "text",
    [
        "['a dog', 'the dog']",
        '["a dog", "the dog"]',
        " [ 'a dog' ,\n\"the dog\", ] ",
        "['a dog', \"the dog\"]",
    ],
)
def test_a_list_in_a_cell_is_read_as_a_list(text):
    assert checks.captions(text, "here") == ("a dog", "the dog")


@pytest.mark.parametrize(
    "text",
    ["['a dog' 'the dog']", "['a dog', None, 'b']", "['a', ['b', 'c']]", '["a" "b"]'],
)
def test_what_looks_like_a_list_of_texts_and_is_none_is_refused(text):
    with pytest.raises(InputError, match="is no list of texts"):
        checks.captions(text, "here")


@pytest.mark.parametrize(
    "text", ["[a dog]", "['quoted'] words", "a ['list']", "[UNK] 'tis", "[]"]
)
def test_other_texts_with_brackets_are_captions(text):
    assert checks.captions(text, "here") == (text,)


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
        (
            ["a", None],
            "candidates: example 1: expected a text or a list of texts; found None",
        ),
        (
            [["a"], float("nan")],
            "candidates: example 1: expected a text or a list of texts; found nan",
        ),
        (
            "a dog",
            "candidates: expected a list with one list of texts, or one text, "
            "per example; found 'a dog'",
        ),
        ({"a", "b"}, "candidates: expected a list"),
        (
            [["a"], "b"],
            "candidates: example 1: is a text, example 0 is a list; expected one kind",
        ),
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
    assert matched_ids(
        {"b": 1, "a": 1}, {"a": 1, "b": 1}, allow_missing=False, allow_unknown=False
    ) == ["a", "b"]
    assert matched_ids(
        {"z": 1, "a": 1}, {"a": 1, "b": 1}, allow_missing=True, allow_unknown=True
    ) == ["a"]
    assert texts_of({"caption": "a"}, "here") == ("a",)
    many = {str(k): 1 for k in range(500)}
    with pytest.raises(
        InputError,
        match=r"500 ids have no references: '0', '1', '2', \.\.\. "
        r"\(allow_unknown: true",
    ):
        matched_ids(many, {"a": 1}, allow_missing=False, allow_unknown=False)


def test_ids_are_texts_as_in_files():
    assert by_text_id({42: "a", "x": "b"}, "candidates") == {"42": "a", "x": "b"}
    with pytest.raises(
        InputError, match="candidates: 1 id occurs as a number and as a text: '42'"
    ):
        by_text_id({42: "a", "42": "b"}, "candidates")


@pytest.mark.parametrize(
    ("ids", "names", "matches"),
    [
        (["a/1.jpg", "a/2.jpg"], ["1", "2", "3"], {"a/1.jpg": "1", "a/2.jpg": "2"}),
        (
            ["1", "2", "3"],
            ["a/1.jpg", "a/2.jpg"],
            {"1": "a/1.jpg", "2": "a/2.jpg", "3": "3"},
        ),
        (
            ["COCO_0007.jpg", "COCO_0012.jpg"],
            ["7", "12"],
            {"COCO_0007.jpg": "7", "COCO_0012.jpg": "12"},
        ),
        (["a/1.jpg", "a/2.jpg"], ["1", "9"], {}),
        (["a/1.jpg", "b/4.jpg", "a/2.jpg"], ["2", "4", "9", "10"], {}),
        (["x7", "y8"], ["7", "9", "10"], {}),
        (["a/1.jpg", "b/1.jpg"], ["1"], {}),
    ],
)
def test_file_names_are_matched_where_all_of_one_side_are(ids, names, matches):
    """A match in part, or of two files with one name, is a mistake in the names:
    nothing is matched.
    """
    assert match_file_names(ids, names) == matches


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (["https://x.org/v/1.jpg?width=9&v=2", "https://x.org/2.jpg#a"], ["1", "2"]),
        (["out/a/1.jpg", "out/b/1.jpg"], ["a/1", "b/1"]),
        (["C:\\v\\a\\1.jpg", "C:\\v\\b\\1.jpg"], ["a/1.jpg", "b/1.jpg"]),
        (["a/1.jpg", "b/1.jpg"], ["x/y/a/1.png", "x/y/b/1.png"]),
    ],
)
def test_addresses_and_folders_are_no_part_of_a_name(ids, names):
    assert match_file_names(ids, names) == dict(zip(ids, names))


def test_other_folders_are_other_files():
    assert match_file_names(["a/1.jpg", "b/1.jpg"], ["c/1.jpg", "d/1.jpg"]) == {}
