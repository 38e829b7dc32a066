"""``harness df``: a table built from a file of references gives the scores that the references themselves give."""

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
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "of 3 documents" in done.stdout
    metrics = ["cider", {"cider": {"df": str(tmp_path / "df.npz")}}]
    own, table = harness.score(candidates, references, metrics).values()
    assert table.value == pytest.approx(own.value, abs=1e-12)
    assert own.value > 0.5
