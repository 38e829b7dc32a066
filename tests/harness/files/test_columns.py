"""Column names of tables."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.columns import (
    Columns,
    check_mapping,
    find_caption_columns,
    find_columns,
    get_field,
    has_field,
    id_columns,
)


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


# --------------------------------------------------------------------------- roles
@pytest.mark.parametrize(
    ("role", "fields", "names"),
    [
        (
            "references",
            {
                "id": 1,
                "caption_1": "a dog",
                "caption_2": "the dog",
                "caption_length": 27,
            },
            ("caption_1", "caption_2"),
        ),
        (
            "references",
            {
                "id": 1,
                "caption_1": "a dog",
                "caption_2": "the dog",
                "caption_model": "blip",
            },
            ("caption_1", "caption_2"),
        ),
        (
            "references",
            {"id": 1, "Ref 1": "a dog", "Ref 2": "the dog", "refs_count": 2},
            ("Ref 1", "Ref 2"),
        ),
        (
            "references",
            {"id": 1, "reference_0": "a dog", "reference_1": "the dog"},
            ("reference_0", "reference_1"),
        ),
        (
            "references",
            {"caption": "a guess", "references": ["a dog"]},
            ("references",),
        ),
        ("references", {"answer": ["a dog"], "prediction": "a cat"}, ("answer",)),
        ("references", {"predict": "a cat", "label": "a dog"}, ("label",)),
        ("references", {"caption": "a dog", "label": "dog"}, ("caption",)),
        (
            "references",
            {"reference_strs": ["a dog", "the dog"], "caption_str": "a dog"},
            ("reference_strs",),
        ),
        ("candidates", {"answer": ["a dog"], "prediction": "a cat"}, ("prediction",)),
        ("candidates", {"predict": "a cat", "label": "a dog"}, ("predict",)),
        ("candidates", {"Caption": "a dog", "ID": 1}, ("Caption",)),
        (
            "candidates",
            {"file_name": "1.wav", "caption_predicted": "a dog"},
            ("caption_predicted",),
        ),
        ("candidates", {"prediction": 0.93, "caption": "a dog"}, ("caption",)),
        ("candidates", {"output": "out/1.jpg", "caption": "a dog"}, ("caption",)),
        (
            "candidates",
            {"text": "https://example.org/1", "description": "a dog"},
            ("description",),
        ),
        ("candidates", {"response": "a cat", "labels": "a dog"}, ("response",)),
        ("candidates", {"question_id": 1, "answer": "a dog"}, ("answer",)),
        ("candidates", {"caption": "42"}, ("caption",)),
    ],
)
def test_captions_are_found_by_name_and_value(role, fields, names):
    found = find_caption_columns([fields], role)
    assert found is not None and found.names == names


def test_the_first_value_that_is_not_empty_decides():
    found = find_caption_columns(
        [{"output": None, "caption": "a"}, {"output": "out/1.png", "caption": "b"}],
        "candidates",
    )
    assert found is not None and found.names == ("caption",)
    assert find_caption_columns([{"id": 1}], "candidates") is None


def test_what_a_caption_describes_comes_before_the_number_of_the_record():
    assert id_columns({"id": 1, "image_id": 7, "caption": "a"}) == ["image_id", "id"]
    assert id_columns({"ID": 1, "doc.image_id": 7}) == ["ID", "doc.image_id"]
    assert id_columns({"image_id": None, "id": 3}) == ["id"]
    assert id_columns({"image": {"bytes": b""}, "index": 2.0}) == ["index"]


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
