"""``harness.list``, ``harness.schema``, ``harness.validate`` and
``harness.warm``.
"""

from __future__ import annotations

import json

import pytest

import harness
from harness.errors import HarnessError, InputError, UnknownName


def test_components_are_listed_by_kind():
    distances = harness.list("distances")
    names = [entry["name"] for entry in distances.entries]
    assert "rouge" in names and not distances.failures
    assert {entry["kind"] for entry in harness.list().entries} >= {"metrics", "tasks"}
    with pytest.raises(UnknownName, match="unknown kind 'nothing'; kinds are"):
        harness.list("nothing")
    assert [entry["kind"] for entry in harness.list("forms").entries]


def test_the_schema_has_a_row_for_each_key():
    schema = harness.schema()
    assert json.loads(str(schema)) == schema
    assert "models" in schema.to_arrow().column("key").to_pylist()


def test_a_valid_spec_and_a_mistake(tmp_path):
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": "1", "references": ["a dog", "the dog"]}\n')
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": str(data)},
        "models": ["human"],
        "metrics": ["rouge"],
    }
    result = harness.validate(spec)
    assert result.valid and result.runs[0]["metrics"] == ["rouge"]
    assert result.runs[0]["estimate"]["text"].startswith("1 example")
    assert str(result).startswith("the spec: valid; task t")
    with pytest.raises(InputError, match="unknown metric 'rogue'"):
        harness.validate(spec, metrics=["rogue"])


def test_a_metric_is_warmed():
    seen = []
    result = harness.warm("rouge", progress=lambda *row: seen.append(row))
    assert [row["metric"] for row in result.metrics] == ["rouge"] == [seen[0][0]]
    assert not result.metrics[0]["reason"]
    with pytest.raises(HarnessError, match="rogue"):
        harness.warm("rogue")
