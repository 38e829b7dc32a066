"""Caption sets and specs from a file of candidates and a file of references."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.run.captions_by_id import read_answers
from harness.run.file_components import create_reader
from harness.run.file_options import USUAL_OPTIONS, FileOptions
from harness.run.file_pair import read_file_pair


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z", "w"]}))
    (tmp_path / "r.json").write_text(
        json.dumps({"a": ["x", "y"], "b": ["z"], "c": ["v"]})
    )
    return str(tmp_path / "p.json"), str(tmp_path / "r.json")


def test_sets_are_in_the_order_of_the_references(pair):
    sets = read_file_pair(*pair, allow=["missing"])
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("a", ("x y",), ("x", "y")),
        ("b", ("z", "w"), ("z",)),
    ]


def test_missing_candidates_are_refused_without_permission(pair):
    with pytest.raises(InputError, match="'c'"):
        read_file_pair(*pair)


def write_rows(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_sets_of_some_systems_are_joined(tmp_path, pair):
    rows = [
        {
            "id": key,
            "candidates": {"one": [f"{key} one"], "two": f"{key} two", "three": "x"},
        }
        for key in "abc"
    ]
    path = write_rows(tmp_path / "p.jsonl", *rows)
    expected = [(f"{key} one", f"{key} two") for key in "abc"]
    sets = read_file_pair(
        candidates=path, references=pair[1], options=FileOptions(systems=("one", "two"))
    )
    assert [item.candidates for item in sets] == expected
    with pytest.raises(InputError, match="choose with system: NAME"):
        read_file_pair(path, pair[1])


def test_empty_references_are_read_with_permission(tmp_path, pair):
    (tmp_path / "e.json").write_text(json.dumps({"a": ["x", ""], "b": ["z"]}))
    with pytest.raises(InputError, match="empty reference"):
        list(create_reader(tmp_path / "e.json", ["missing"], USUAL_OPTIONS))
    assert [
        item.references
        for item in create_reader(
            tmp_path / "e.json", ["missing", "empty"], USUAL_OPTIONS
        )
    ] == [("x", ""), ("z",)]
    sets = read_file_pair(pair[0], tmp_path / "e.json", allow=["empty"])
    assert [item.references for item in sets] == [("x", ""), ("z",)]


def test_several_files_of_references_are_joined(tmp_path, pair):
    (tmp_path / "more.json").write_text(
        json.dumps({"a": ["u"], "b": ["v"], "c": ["w"]})
    )
    examples = list(create_reader([pair[1], tmp_path / "more.json"], [], USUAL_OPTIONS))
    assert [(item.id, item.references) for item in examples] == [
        ("a", ("x", "y", "u")),
        ("b", ("z", "v")),
        ("c", ("v", "w")),
    ]
    with pytest.raises(InputError):
        create_reader([], [], USUAL_OPTIONS)


def test_columns_of_both_files_are_chosen(tmp_path):
    candidates = write_rows(
        tmp_path / "p.jsonl", {"n": 1, "id": 8, "said": "x", "candidates": "no"}
    )
    references = write_rows(
        tmp_path / "r.jsonl",
        {"key": 1, "id": 9, "one": "y", "two": "z", "references": ["no"]},
    )
    options = FileOptions("n", ("said",), (), "key", ("one", "two"))
    (item,) = read_file_pair(candidates, references, options=options)
    assert (item.id, item.candidates, item.references) == ("1", ("x",), ("y", "z"))
    assert read_answers(candidates, options) == {"1": ("x",)}
