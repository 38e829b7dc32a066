"""Records of files in any usual form."""

import json

import pytest

from harness.errors import InputError
from harness.files.record_files import read_records, records_of_object


def fields(path):
    return [dict(record.fields) for record in read_records(path, "file")]


def test_objects_of_records_indented_or_not(tmp_path):
    path = tmp_path / "a.json"
    for indent in (None, 2):
        path.write_text(
            json.dumps({"x": {"n": 1}, "y": {"n": 2, "key": "own"}}, indent=indent)
        )
        assert fields(path) == [{"key": "x", "n": 1}, {"key": "own", "n": 2}]
        path.write_text(
            json.dumps({"HC": [{"n": 1}, {"n": 2}], "MM": [{"n": 3}]}, indent=indent)
        )
        assert fields(path) == [
            {"group": "HC", "n": 1},
            {"group": "HC", "n": 2},
            {"group": "MM", "n": 3},
        ]
        path.write_text(
            json.dumps(
                {"info": {}, "images": [{"id": 1}], "annotations": [{"id": 2}]},
                indent=indent,
            )
        )
        assert fields(path) == [{"id": 2}]


def test_one_record_is_a_record(tmp_path):
    path = tmp_path / "a.jsonl"
    record = {"image_id": 1, "captions": [{"caption": "a"}]}
    path.write_text(json.dumps(record) + "\n")
    assert fields(path) == [record]
    assert [record.where for record in records_of_object({"a": 1}, "f")] == ["f:1"]


def test_places(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"HC": [{"n": 1}], "x": [{"n": 1}, {"n": 2}]}))
    assert [record.where for record in read_records(path, "file")] == [
        f"{path}: 'HC': record 1",
        f"{path}: 'x': record 1",
        f"{path}: 'x': record 2",
    ]


def test_broken_json_has_a_place(tmp_path):
    path = tmp_path / "a.json"
    for text in ('{"a": {"n": 1},\n', '{"a": 1}\n{"a": \n'):
        path.write_text(text)
        with pytest.raises(InputError, match="not JSON at byte"):
            fields(path)


def test_files_of_scores(tmp_path):
    path = tmp_path / "chrF-refA.seg.score"
    path.write_text("a\t0.5\na None\nb 1\n")
    assert fields(path) == [
        {"id": "1", "system": "a", "score": "0.5"},
        {"id": "2", "system": "a", "score": None},
        {"id": "1", "system": "b", "score": "1"},
    ]
    path.write_text("news a 0.5\n")
    assert fields(path) == [
        {"id": "1", "system": "a", "score": "0.5", "domain": "news"}
    ]
    path.write_text("a 0.5\na\n")
    with pytest.raises(
        InputError, match=r"score:2: found 1 words; expected \[DOMAIN\] SYSTEM SCORE"
    ):
        fields(path)
