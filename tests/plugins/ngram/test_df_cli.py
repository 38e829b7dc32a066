"""``harness df``: a table built from a file of references gives the scores of these
references.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness_metrics.ngram.df_table import read


@pytest.mark.slow
def test_a_table_from_the_references_gives_the_same_cider(tmp_path):
    references = {
        "1": ["a dog runs on the grass", "the dog runs"],
        "2": ["a cat sleeps on a mat", "a cat on the mat"],
        "3": ["two men talk"],
    }
    candidates = {
        "1": ["a dog runs on grass"],
        "2": ["the cat sleeps on the mat"],
        "3": ["two men"],
    }
    (tmp_path / "r.json").write_text(json.dumps(references))

    command = [sys.executable, "-m", "harness", "df"]
    command += ["--references", "r.json", "--output", "df.npz"]
    process = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    assert "of 3 documents" in process.stdout

    metrics = ["cider", {"cider": {"df": str(tmp_path / "df.npz")}}]
    task, table = harness.score(candidates, references, metrics).values()
    assert table.value == pytest.approx(task.value, abs=1e-12)
    assert task.value > 0.5


def test_tables_of_parts_join_to_the_table_of_all_references(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": str(k), "references": [f"a dog {word}", f"the {word} dog sits"]}
        for k, word in enumerate(["runs", "sits", "sits", "jumps"])
    ]
    for name, part in (("all", rows), ("a", rows[:2]), ("b", rows[2:])):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, part)))
        line = ["df", "--references", f"{name}.jsonl", "--output", f"{name}.npz"]
        assert main(line) == 0

    minimum = ["--minimum", "2"]
    line = ["df", "--join", "a.npz", "b.npz", "--output", "joined.npz"]
    assert main([*line, *minimum]) == 0
    line = ["df", "--references", "all.jsonl", "--output", "frequent.npz"]
    assert main([*line, *minimum]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("n-grams of 4 documents")
    joined, expected = (
        read(Path(name), "ptb") for name in ("joined.npz", "frequent.npz")
    )
    assert dict(zip(joined.grams, joined.counts.tolist())) == dict(
        zip(expected.grams, expected.counts.tolist())
    )
    assert joined.documents == 4

    # tables of two tokenisers
    line = ["df", "--references", "a.jsonl", "--output", "words.json"]
    assert main([*line, "--tokenizer", "none"]) == 0
    assert main(["df", "--join", "a.npz", "words.json", "--output", "joined.npz"]) == 2
    assert "words.json: the table's tokenizer is 'none'" in capsys.readouterr().err

    # a table that is not there
    assert main(["df", "--join", "a.npz", "jonied.npz", "--output", "other.npz"]) == 2
    assert (
        capsys.readouterr().err
        == "harness: jonied.npz: no such document-frequency table; "
        "did you mean 'joined.npz'?\n"
    )
    assert not Path("other.npz").exists()
