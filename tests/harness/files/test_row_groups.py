"""Columns that tell apart records of one id."""

from __future__ import annotations

import json

import pytest

import harness
from harness.files.records import Record
from harness.files.row_groups import RowGroups


def rows(*values, name="model"):
    return [Record(f"f:{k}", {"id": 1, name: value}) for k, value in enumerate(values)]


@pytest.mark.parametrize("name", ["model", "Model Name", "epoch", "lang"])
def test_several_values_are_named(name):
    records = rows("a", "b", "a", None, name=name)
    groups = RowGroups(records, ("id",))
    assert list(groups.watch(records)) == records
    assert groups.remark(repeated=True) == (
        f"records of several values of '{name}' ('a', 'b') are one set for each id"
    )
    assert groups.remark(repeated=False) == ""


def test_one_value_and_other_columns_are_none():
    for records, used in (
        (rows("a", "a"), ()),
        (rows("a", "b"), ("model",)),
        (rows("a", "b", name="seed"), ()),
        ([], ()),
    ):
        groups = RowGroups(records, used)
        list(groups.watch(records))
        assert groups.remark(repeated=True) == ""


def test_captions_of_two_models_in_one_file_have_a_line(tmp_path, caplog):
    captions = [
        {"image_id": k, "model": model, "caption": f"a dog {k}"}
        for model in ("blip", "git")
        for k in range(3)
    ]
    references = {str(k): ["the dog"] for k in range(3)}
    for name, value in (("c.json", captions), ("r.json", references)):
        (tmp_path / name).write_text(json.dumps(value))
    harness.score(
        str(tmp_path / "c.json"), str(tmp_path / "r.json"), "bleu1", bootstrap=0
    )
    assert "several values of 'model' ('blip', 'git') are one set" in caplog.text
