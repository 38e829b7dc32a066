"""``harness df``: a table built from a file of references gives the scores of these references."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import harness


def test_a_table_from_the_references_gives_the_same_cider(tmp_path):
    references = {
        "1": ["a dog runs on the grass", "the dog runs"],
        "2": ["a cat sleeps on a mat", "a cat on the mat"],
        "3": ["two men talk"],
    }
    candidates = {"1": ["a dog runs on grass"], "2": ["the cat sleeps on the mat"], "3": ["two men"]}
    (tmp_path / "r.json").write_text(json.dumps(references))
    command = [sys.executable, "-m", "harness", "df", "--references", "r.json", "--output", "df.npz"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert "of 3 documents" in process.stdout
    metrics = ["cider", {"cider": {"df": str(tmp_path / "df.npz")}}]
    task, table = harness.score(candidates, references, metrics).values()
    assert table.value == pytest.approx(task.value, abs=1e-12)
    assert task.value > 0.5
