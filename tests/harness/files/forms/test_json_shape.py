"""Shapes of JSON documents that hold captions."""

from __future__ import annotations

import pytest

from harness.files.forms.json_shape import is_mapping, mapping_rows, shape_of

ROWS = [{"image_id": 7, "caption": "a dog"}]


def shape(value, role="candidates", names=()):
    found = shape_of(value, role, names, "f")
    return found.name, found.key, found.value


@pytest.mark.parametrize(
    ("value", "name", "key"),
    [
        (["a", ["b", "c"]], "list", ""),
        (ROWS, "json", ""),
        ([], "json", ""),
        ({"results": ROWS, "model": "m"}, "json", "results"),
        ({"info": {}, "data": {"annotations": ROWS}}, "json", "annotations"),
        ({"model": "m", "predictions": {"7": "a dog"}}, "mapping", "predictions"),
        ({"7": "a dog", "8": None}, "mapping", ""),
        (ROWS[0], "jsonl", ""),
        ({"image_id": 7, "loss": 3}, "jsonl", ""),
    ],
)
def test_shapes(value, name, key):
    assert shape(value)[:2] == (name, key)


def test_the_role_selects_the_list_of_an_object():
    both = {"predictions": ["a"], "references": [["b", "c"]]}
    assert shape(both) == ("list", "predictions", ["a"])
    assert shape(both, "references") == ("list", "references", [["b", "c"]])


def test_an_id_may_be_called_annotations():
    assert shape({"data": {"annotations": ["a dog", "the dog"]}})[0] == "mapping"


def test_names_of_the_user_make_a_record():
    assert shape({"key": "1", "said": "a dog"})[0] == "mapping"
    assert shape({"key": "1", "said": "a dog"}, names=["said"])[0] == "jsonl"


def test_objects_of_ids():
    assert is_mapping({"1": {"caption": "a"}, "2": ["b"], "3": None})
    assert not is_mapping({"1": {"score": 1}})
    assert is_mapping({"1": {"score": 1}}, ["score"])
    assert not is_mapping({})
    assert [dict(row.fields) for row in mapping_rows({"1": {"pred": "a"}}, "f")] == [
        {"pred": "a", "id": "1"}
    ]
    assert [dict(row.fields) for row in mapping_rows({"1": {"caption": "a"}}, "f")] == [
        {"id": "1", "captions": {"caption": "a"}}
    ]
