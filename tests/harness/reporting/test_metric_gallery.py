"""The page of metrics: sets by question, clusters, cost from the records, speeds of the committed benchmark, tests, advice."""

from __future__ import annotations

import json
import re

import pytest

import harness
from harness.cli.main import main
from harness.reporting.league import LeagueSet
from harness.reporting.metric_gallery import SPEEDS, cost_of_captions, question_of
from harness.rundir.records import ResultRecord


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Runs of four sets: short captions, long ones, sets of captions, foils."""
    monkeypatch.chdir(tmp_path)
    texts = {"short": "dog # runs", "long": "dog # runs " * 25, "sets": "dog # runs"}
    for name, text in texts.items():
        rows = [
            {
                "id": str(k // 3),
                "references": ["dog 1 runs", "a dog"],
                "score": k % 4,
                "caption": text.replace("#", str(k % 4)) + " cat" * (k % 4),
            }
            for k in range(60)
        ]
        rows = [{**row, "caption": [row["caption"], "a cat"]} for row in rows] if name == "sets" else rows
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    foils = [{"id": str(k), "references": [f"the dog {k}", "a dog"], "correct": f"a dog {k}", "foil": f"a cat {k}"} for k in range(20)]
    (tmp_path / "foils.jsonl").write_text("".join(json.dumps(row) + "\n" for row in foils))
    for name in (*texts, "foils"):
        judgments = {"form": "foil" if name == "foils" else "captions", "path": f"{name}.jsonl"}
        statistics = ["accuracy" if name == "foils" else "kendall_c"]
        spec = {"task": f"judgments/{name}", "judgments": judgments, "statistics": statistics, "metrics": ["rouge", "caption-length"]}
        harness.evaluate(spec, output=tmp_path / "runs" / name)
    return tmp_path / "runs"


def test_the_page(runs, capsys):
    questions = {path.name: question_of(LeagueSet(harness.Run.open(path))) for path in runs.iterdir()}
    assert questions == {"short": "captions", "long": "long", "sets": "sets", "foils": "hallucination"}
    assert main(["report", str(runs), "--gallery", "--output", "page.html"]) == 0 and capsys.readouterr().out == "page.html\n"
    text = (runs.parent / "page.html").read_text(encoding="utf-8")
    assert "$" not in re.sub(r"`\[data-question=\"\$\{question\}\"\]`", "", text)
    assert re.findall(r'value="(\w+)"', text) == ["all", "captions", "sets", "hallucination", "long"]
    assert text.count("<details data-question=") == 4 and text.count("PERM-INPUT p, Holm") == 4
    row = re.search(r"<tr><td>ROUGE-L</td>(.*?)</tr>", text)
    speed = json.loads(SPEEDS.read_text())["speeds"]["rouge"]
    assert row and row[1].count("<td") == 6 and row[1].endswith(f"<td>{speed:,.0f}</td><td>0</td>")
    assert re.search(r"<td[^>]* class=first>-?[\d.]+ \(1\)</td>", row[1]) and "<td></td>" not in row[1]
    assert re.search(r'<li data-question="hallucination">hallucination: <b>ROUGE-L</b> \(first cluster of 1 of 1 sets\)', text)
    assert not re.search(r'(?:src|href)="', text), "one file, which loads nothing"


def test_cost_is_that_of_the_records():
    def record(**details):
        return ResultRecord(model="", metric="j", details=details)

    assert cost_of_captions([record(captions=9)]) == 0.0
    assert cost_of_captions([record(captions=100, requests=100, cost=0.5), record(captions=300, requests=10, cost=0.5)]) == 2.5
    assert cost_of_captions([record(captions=100, requests=100)]) is None


def test_runs_without_judgments_have_no_such_page(project, capsys):
    spec = {"task": "words", "dataset": {"reader": "words", "count": 4}, "models": [{"echo": {"n": 1}}], "metrics": ["length"]}
    harness.evaluate(spec, output="r")
    assert main(["report", "r", "--gallery"]) == 2
    assert "no run of judgments" in capsys.readouterr().err and not (project / "r" / "metrics.html").exists()
