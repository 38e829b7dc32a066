"""Annotations of ViTT."""

from __future__ import annotations

import json

import pytest

import harness
from harness.errors import InputError
from harness.registry import current

FIRST = [{"timestamp": 0, "tag": "opening"}, {"timestamp": 5000, "tag": "closing"}]
SECOND = [{"timestamp": 0, "tag": "all of it"}]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "vitt.json"
    records = [
        {"id": "v", "annotations": FIRST, "duration": 8.0},
        {"id": "v", "annotations": SECOND, "duration": 8.0},
    ]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_records_of_one_id_are_annotators(file):
    reader = current().create("readers", "auto", {"path": str(file), "events": "sets"})
    (example,) = reader
    assert len(example.references) == 2
    assert '"place": [5.0, 8.0]' in example.references[0]
    (result,) = harness.score(str(file), str(file), "dense").values()
    assert 0 < result.value < 1


def test_a_time_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "vitt.json"
    tags = [{"timestamp": "5 s", "tag": "opening"}]
    path.write_text(json.dumps([{"id": "v", "annotations": tags}]), encoding="utf-8")
    params = {"path": str(path), "events": "sets"}
    with pytest.raises(InputError, match="expected milliseconds"):
        list(current().create("readers", "auto", params))
