"""Rows of given objects."""

from __future__ import annotations

import json

import harness


def test_both_columns_are_read_by_role(tmp_path):
    rows = [
        {"sample_id": 1, "pred_response": "a bed", "gt_response": ["a bed", "the bed"]},
        {"sample_id": 2, "pred_response": "a cat", "gt_response": "a sofa"},
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    (result,) = harness.score(str(path), str(path), "bleu1").values()
    assert 0 < result.value < 1
    (reading, _) = harness.describe(str(path)).readings
    assert (reading.form, reading.id) == ("given-objects", "sample_id")
    assert reading.examples == {"1": ("a bed", "the bed"), "2": ("a sofa",)}
