"""Tables of examples."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness_tasks.readers.jsonl import TableReader

RECORDS = [
    {"video_id": "v1", "references": ["a", "b"], "split": "train"},
    {"video_id": "v2", "references": ["c"], "split": "test"},
]


def test_tables_of_all_kinds(save, tmp_path):
    parquet = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pylist(RECORDS), parquet)
    for path in (save(RECORDS), save(RECORDS, "a.json.gz"), save(RECORDS, "a.jsonl"), str(parquet)):
        examples = list(TableReader(path=path))
        assert [(x.id, x.references) for x in examples] == [("v1", ("a", "b")), ("v2", ("c",))]
        assert examples[0].meta == {"split": "train"}
        assert [x.id for x in TableReader(path=path, split="test")] == ["v2"]


def test_table_bad_input(save, error_message):
    path = save(RECORDS, "a.jsonl")
    assert error_message(TableReader(path=path, split="val")) == f"{path}: no split 'val'; found train, test"
    path = save([{"id": 1, "references": ["a"]}], "b.jsonl")
    assert error_message(TableReader(path=path, split="test")) == (
        f"{path}: the records have no column 'split' to select test from"
    )
    path = save([], "c.jsonl")
    assert error_message(TableReader(path=path)) == f"{path}: the file is empty"
    path = save([{"id": 1, "references": ["a", ""]}], "d.jsonl")
    assert error_message(TableReader(path=path)) == f"{path}:1: empty reference '' (allow_empty: true keeps it)"


def test_table_with_other_column_names(save):
    path = save([{"key": "x", "r0": "a", "r1": "b", "img": "x.png"}])
    item = next(iter(TableReader(path=path, columns={"id": "key", "references": ["r0", "r1"], "media": "img"})))
    assert (item.id, item.references, item.media) == ("x", ("a", "b"), "x.png")


def test_records_without_references_are_skipped_on_request(tmp_path):
    file = tmp_path / "x.jsonl"
    rows = [
        {"image_id": 1},
        {"image_id": 2, "references": ["c"]},
        {"image_id": 3},
        {"image_id": 4, "references": ["d"]},
    ]
    file.write_text("".join(json.dumps({"candidates": ["a"]} | row) + "\n" for row in rows))
    assert [example.id for example in TableReader(path=str(file), skip_without_references=True)] == ["2", "4"]


def test_errors_of_columns_and_splits_name_the_parameter(save):
    path = save(RECORDS)
    options: dict[str, Any] = {"columns": {"id": "key"}, "split": "val"}
    for parameter, value in options.items():
        with pytest.raises(InputError) as caught:
            list(TableReader(path=path, **{parameter: value}))
        assert caught.value.parameter == parameter
