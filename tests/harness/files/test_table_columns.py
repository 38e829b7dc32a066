"""Columns of a table by the parameter and by usual names."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.table_columns import Columns, check_mapping, find_columns


def record(*names: str) -> list[dict[str, object]]:
    """Return one record with text in each column."""
    return [dict.fromkeys(names, "a text")]


def error_message(call, *args, **params) -> str:
    with pytest.raises(InputError) as caught:
        call(*args, **params)
    return str(caught.value)


def test_usual_columns():
    columns = find_columns(
        {}, record("image_id", "file_name", "references", "context"), "f"
    )
    assert columns == Columns("image_id", ("references",), "file_name", "context")
    assert find_columns(
        {}, record("index", "caption_0", "caption_1"), "f"
    ).captions == ("caption_0", "caption_1")


def test_columns_of_the_parameter():
    columns = find_columns(
        {"id": "key", "references": ["r1", "r2_*"]},
        record("key", "r1", "r2_a", "r2_b"),
        "f",
    )
    assert (columns.id, columns.captions) == ("key", ("r1", "r2_a", "r2_b"))
    assert find_columns({"id": None}, record("captions"), "f").id is None


@pytest.mark.parametrize(
    "parameter, present, expected",
    [
        (
            {},
            ["a"],
            "f: no column of captions; found 'a' (name it with columns: {references: "
            "...})",
        ),
        (
            {},
            ["captions"],
            "f: no column of ids; found 'captions' (name it with columns: {id: ...}, "
            "or {id: null} numbers the rows)",
        ),
        (
            {"references": "captoins"},
            ["id", "captions"],
            "f: no column 'captoins'; did you mean 'captions'?; found 'id', 'captions'",
        ),
        (
            {"media": "img"},
            ["id", "captions"],
            "f: no column 'img'; found 'id', 'captions'",
        ),
    ],
)
def test_absent_columns(parameter, present, expected):
    with pytest.raises(InputError) as caught:
        find_columns(parameter, record(*present), "f")
    assert (str(caught.value), caught.value.parameter) == (expected, "columns")


def test_unknown_keys_of_the_parameter():
    assert error_message(check_mapping, {"refrences": "a"}) == (
        "columns has no 'refrences'; did you mean 'references'?; "
        "expected some of id, references, media, source, split"
    )
    assert error_message(check_mapping, "a").startswith(
        "columns is text; expected a mapping such as "
    )


def test_error_of_an_unknown_key_has_fields():
    with pytest.raises(InputError) as caught:
        check_mapping({"refrences": "a"})
    assert (caught.value.parameter, caught.value.value) == ("columns", "refrences")
    assert "did you mean 'references'?" in str(caught.value)
    assert check_mapping(None) == {}


def test_used_columns_are_distinct():
    columns = Columns("image_id", ("caption",), media="image_id", split="split")
    assert columns.column_list() == ["image_id", "caption", "split"]


def test_null_means_that_a_column_is_not_used():
    assert (
        find_columns({"media": None}, record("id", "caption", "file_name"), "f").media
        is None
    )
