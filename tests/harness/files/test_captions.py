"""Ids, captions and columns: what is taken and what is refused, and how it is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files import captions as checks
from harness.files.records import Record


def told(call, *args, **params) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **params)
    return str(caught.value)


@pytest.mark.parametrize(
    "text", ["a dog", "ein Hund läuft", "🐕‍🦺 runs", "כלב רץ", "e\u0301te\u0301", " spaced ", "a\tb\nc"]
)
def test_text_is_kept_as_it_is(text):
    assert checks.caption(text, "f:1") == text


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
        ("a \ud83d", "f:1: the caption holds an unpaired surrogate, half of a character: 'a \\ud83d'"),
    ],
)
def test_bad_captions(value, expected):
    assert told(checks.caption, value, "f:1") == expected


def test_empty_caption_by_permission():
    assert checks.caption("", "f:1", allow_empty=True) == ""


def test_captions_of_all_forms():
    assert checks.captions("a", "f") == ("a",)
    assert checks.captions(["a", {"caption": "b"}, {"raw": "c", "tokens": []}], "f") == ("a", "b", "c")
    assert checks.captions([], "f") == ()


@pytest.mark.parametrize("value, expected", [(7, "7"), ("7", "7"), (7.0, "7"), ("img_1", "img_1")])
def test_ids(value, expected):
    assert checks.identity(value, "f:1", "id") == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        (None, "f:1: 'id' is null; expected an id (a whole number or text)"),
        (True, "f:1: 'id' is true; expected an id (a whole number or text)"),
        (1.5, "f:1: 'id' is the number 1.5; expected an id (a whole number or text)"),
        (float("nan"), "f:1: 'id' is the number nan; expected an id (a whole number or text)"),
        (float("inf"), "f:1: 'id' is the number inf; expected an id (a whole number or text)"),
        ({}, "f:1: 'id' is an object; expected an id (a whole number or text)"),
        ("", "f:1: 'id' is empty; expected an id"),
    ],
)
def test_bad_ids(value, expected):
    assert told(checks.identity, value, "f:1", "id") == expected


@given(st.integers())
def test_integers_and_their_text_are_one_id(number):
    assert checks.identity(number, "f", "id") == checks.identity(str(number), "f", "id")


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", True])
def test_counts(value):
    assert told(checks.positive, value, "n") == f"n is {value!r}; expected a whole number of at least 1"


# --------------------------------------------------------------------------- columns
def test_usual_columns():
    found = checks.find_columns({}, ["image_id", "file_name", "references", "context"], "f")
    assert found == checks.Columns("image_id", ("references",), "file_name", "context")
    assert checks.find_columns({}, ["index", "caption_0", "caption_1"], "f").captions == ("caption_0", "caption_1")


def test_named_columns():
    found = checks.find_columns({"id": "key", "references": ["r1", "r2_*"]}, ["key", "r1", "r2_a", "r2_b"], "f")
    assert (found.id, found.captions) == ("key", ("r1", "r2_a", "r2_b"))
    assert checks.find_columns({"id": None}, ["captions"], "f").id is None


@pytest.mark.parametrize(
    "given_columns, present, expected",
    [
        ({}, ["a"], "f: no column of captions; found 'a' (name it with columns: {references: ...})"),
        (
            {},
            ["captions"],
            "f: no column of ids; found 'captions' (name it with columns: {id: ...}, or {id: null} numbers the rows)",
        ),
        (
            {"references": "captoins"},
            ["id", "captions"],
            "f: no column 'captoins'; did you mean 'captions'?; found 'id', 'captions'",
        ),
        ({"media": "img"}, ["id", "captions"], "f: no column 'img'; found 'id', 'captions'"),
    ],
)
def test_columns_that_are_not_there(given_columns, present, expected):
    assert told(checks.find_columns, given_columns, present, "f") == expected


def test_unknown_names_in_a_mapping():
    assert told(checks.check_mapping, {"refrences": "a"}) == (
        "columns has no 'refrences'; did you mean 'references'?; expected some of id, references, media, source, split"
    )
    assert told(checks.check_mapping, "a").startswith("columns is text; expected a mapping such as ")


# --------------------------------------------------------------------------- rows
def rows(*fields):
    return [Record(f"f:{number}", item) for number, item in enumerate(fields, 1)]


def read(*fields, **params):
    columns = checks.find_columns({}, fields[0], "f")
    return list(checks.RowReader(columns, **params).examples(rows(*fields)))


def test_lists_of_references():
    first, second = read({"id": 1, "references": ["a", "b"], "x": 5}, {"id": 2, "references": ["c"], "x": 6})
    assert (first.id, first.references, first.meta) == ("1", ("a", "b"), {"x": 5})
    assert second.references == ("c",)


def test_one_caption_a_row_is_gathered_in_order_of_first_sight():
    found = read({"id": 1, "caption": "a"}, {"id": 2, "caption": "b"}, {"id": 1, "caption": "c"})
    assert [(item.id, item.references) for item in found] == [("1", ("a", "c")), ("2", ("b",))]


def test_duplicate_ids():
    with pytest.raises(InputError, match=r"^f:2: the id '1' occurs twice \(first in f:1\)$"):
        read({"id": 1, "references": ["a"]}, {"id": 1, "references": ["b"]})


def test_example_without_references():
    with pytest.raises(InputError, match=r"^f:1: the example '1' has no references$"):
        read({"id": 1, "references": []})
    with pytest.raises(InputError, match=r"^f:2: 'references' is missing or null; expected captions$"):
        read({"id": 1, "references": ["a"]}, {"id": 2})


def test_nulls_among_several_columns_are_left_out():
    assert read({"id": 1, "caption_0": "a", "caption_1": None})[0].references == ("a",)


def test_stream_wants_ids_together():
    parts = ({"id": 1, "caption": "a"}, {"id": 1, "caption": "b"}, {"id": 2, "caption": "c"})
    assert [item.references for item in read(*parts, consecutive=True)] == [("a", "b"), ("c",)]
    with pytest.raises(InputError, match=r"^f:3: the id '1' comes again after others"):
        read(parts[0], parts[2], parts[1], consecutive=True)


def test_turns_of_a_dialogue_are_the_source():
    assert read({"id": 1, "references": ["a"], "context": ["hi", "hello"]})[0].source == "hi\nhello"


def test_limit_and_media_root():
    item = read({"id": 1, "references": ["a", "b"], "file_name": "x.jpg"}, limit_references=1, media_root="/img/")[0]
    assert (item.references, item.media) == (("a",), "/img/x.jpg")


def test_records_without_references_are_passed_over_when_asked(tmp_path):
    from harness.tasks.readers.jsonl import TableReader

    file = tmp_path / "x.jsonl"
    file.write_text('{"image_id": 1, "candidates": ["a"]}\n{"image_id": 2, "candidates": ["b"], "references": ["c"]}\n')
    assert [example.id for example in TableReader(path=str(file), skip_without_references=True)] == ["2"]
