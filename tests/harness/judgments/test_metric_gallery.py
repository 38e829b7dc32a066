"""The page of metrics: sets by question, clusters, cost from the records, speeds of the
committed benchmark, tests, advice.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

import harness
from harness.cli.main import main
from harness.judgments.league import LeagueSet
from harness.judgments.metric_gallery import (
    SPEEDS,
    cost_of_captions,
    metric_page,
    question_of,
)
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable


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
        rows = (
            [{**row, "caption": [row["caption"], "a cat"]} for row in rows]
            if name == "sets"
            else rows
        )
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )
    foils = [
        {
            "id": str(k),
            "references": [f"the dog {k}", "a dog"],
            "correct": f"a dog {k}",
            "foil": f"a cat {k}",
        }
        for k in range(20)
    ]
    (tmp_path / "foils.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in foils)
    )
    for name in (*texts, "foils"):
        judgments = {
            "form": "foil" if name == "foils" else "captions",
            "path": f"{name}.jsonl",
        }
        statistics = ["accuracy" if name == "foils" else "kendall_c"]
        spec = {
            "task": f"judgments/{name}",
            "judgments": judgments,
            "statistics": statistics,
            "metrics": ["rouge", "caption-length"],
        }
        harness.evaluate(spec, output=tmp_path / "runs" / name)
    return tmp_path / "runs"


def test_the_page(runs, capsys):
    questions = {
        path.name: question_of(LeagueSet(harness.Run.open(path)))
        for path in runs.iterdir()
    }
    assert questions == {
        "short": "captions",
        "long": "long",
        "sets": "sets",
        "foils": "hallucination",
    }
    assert (
        main(["report", str(runs), "--gallery", "--output", "page.html"]) == 0
        and capsys.readouterr().out == "page.html\n"
    )
    text = (runs.parent / "page.html").read_text(encoding="utf-8")
    assert "$" not in re.sub(r"`\[data-question=\"\$\{question\}\"\]`", "", text)
    assert re.findall(r'value="(\w+)"', text) == [
        "all",
        "captions",
        "sets",
        "hallucination",
        "long",
    ]
    assert (
        text.count("<details data-question=") == 4
        and text.count("PERM-INPUT p, Holm") == 4
    )
    row = re.search(r"<tr><td>ROUGE-L \(COCO\)</td>(.*?)</tr>", text)
    speed = json.loads(SPEEDS.read_text())["speeds"]["rouge"]
    assert (
        row
        and row[1].count("<td") == 6
        and row[1].endswith(f"<td>{speed:,.0f}</td><td>0</td>")
    )
    assert (
        re.search(r"<td[^>]* class=first>-?[\d.]+ \(1\)</td>", row[1])
        and "<td></td>" not in row[1]
    )
    assert re.search(
        r'<li data-question="hallucination">hallucination: '
        r"<b>ROUGE-L \(COCO\)</b> \(first cluster of 1 of 1 sets\)",
        text,
    )
    assert not re.search(r'(?:src|href)="', text), "one file, which loads nothing"


def test_cost_is_that_of_the_records():
    def record(**details):
        return ResultRecord(model="", metric="j", details=details)

    assert cost_of_captions([record(captions=9)]) == 0.0
    assert (
        cost_of_captions(
            [
                record(captions=100, requests=100, cost=0.5),
                record(captions=300, requests=10, cost=0.5),
            ]
        )
        == 2.5
    )
    assert cost_of_captions([record(captions=100, requests=100)]) is None
    assert (
        cost_of_captions(
            [
                record(captions=100, requests=100, cost=0.5),
                record(captions=100, requests=100),
            ]
        )
        is None
    )
    assert (
        cost_of_captions(
            [record(captions=100, requests=100, cost=0.5), record(captions=900)]
        )
        == 5.0
    ), "of the captions that are paid"
    assert cost_of_captions([record(requests=1, cost=0.5)]) is None
    assert (
        cost_of_captions([ResultRecord(model="", metric="j")])
        == cost_of_captions([])
        == 0.0
    )


@pytest.mark.parametrize(
    ("kind", "captions", "question"),
    [
        ("foil", [["a b"]], "hallucination"),
        ("labels", [["a b"]], "hallucination"),
        ("systems", [["a b"]], "systems"),
        ("captions", [["a"], ["a", "b"]], "sets"),
        ("pairs", [["w " * 40]], "long"),
        ("pairs", [["w " * 39]], "captions"),
        ("captions", [["w " * 79], ["w"]], "long"),
        ("captions", [["w " * 78], ["w"]], "captions"),
        ("captions", [], "captions"),
        ("captions", [["a"], []], "captions"),
    ],
)
def test_a_set_answers_the_question_of_its_kind_or_captions(kind, captions, question):
    samples = SimpleNamespace(lists={"candidates": captions}.__getitem__)
    assert (
        question_of(SimpleNamespace(kind=kind, run=SimpleNamespace(samples=samples)))
        == question
    )


def judged_run(
    name: str,
    examples: int,
    values: dict[str, tuple[float, int | None]],
    statistic: str = "kendall_c_system",
) -> Run:
    """Return a run that judges metrics by systems,
    from the value and the cluster of each.
    """
    records = [
        ResultRecord(
            model="",
            metric=metric,
            value=value,
            statistic=statistic,
            details={"headline": True} | ({"cluster": rank} if rank else {}),
        )
        for metric, (value, rank) in values.items()
    ]
    return Run(
        Provenance(
            {
                "task": f"judgments/{name}",
                "kind": "judgments",
                "data": {"examples": examples},
            }
        ),
        records,
        SampleTable.empty(),
    )


def test_rows_and_advice_of_two_sets():
    nan = float("nan")
    one = judged_run(
        "a&b",
        1200,
        {"rouge": (0.5, 1), "bleu1": (0.4, 1), "ter": (0.1, 2), "mine": (0.2, None)},
    )
    two = judged_run(
        "two",
        34,
        {"rouge": (0.3, 1), "bleu1": (0.6, 1), "ter": (0.7, 1), "mine": (nan, None)},
    )
    text = metric_page([two, one])
    assert "2 sets, 1,234 judged items." in text
    assert re.findall(
        r'<input type="radio" name="question" value="(\w+)"( checked)?> (\w+)<', text
    ) == [
        ("all", " checked", "all"),
        ("systems", "", "systems"),
    ]
    assert '<th data-question="systems">a&amp;b<br><small>' in text
    rows = re.findall(r"<tr><td>([^<]+)</td>(<td data.*)</tr>", text)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)</td>", row) for name, row in rows}
    assert cells == {
        "BLEU-1": ["60.0 (1)", "40.0 (1)", "90,000", "0"],
        "ROUGE-L (COCO)": ["30.0 (1)", "50.0 (1)", "79,000", "0"],
        "TER": ["70.0 (1)", "10.0 (2)", "1,500", "0"],
        "mine": ["–", "20.0 (–)", "–", "0"],
    }
    assert {name: row.count("class=first") for name, row in rows} == {
        "BLEU-1": 2,
        "ROUGE-L (COCO)": 2,
        "TER": 1,
        "mine": 0,
    }
    best = ", ".join(
        f"<b>{name}</b> (first cluster of 2 of 2 sets)"
        for name in ("BLEU-1", "ROUGE-L (COCO)")
    )
    assert f'<li data-question="systems">systems: {best}</li>' in text
    speeds = json.loads(SPEEDS.read_text())
    assert (
        f"Captions per second: {speeds['command']}, one metric alone, "
        f"{speeds['machine']}." in text
    )
    assert text.count("<summary>") == 2 and "<summary>a&amp;b, " in text


def test_the_cost_of_a_row_has_four_digits():
    run = judged_run("one", 3, {"rouge": (0.5, 1)})

    def page(**details):
        paid = replace(
            run.records[0],
            details={"headline": True, "requests": 3, "captions": 3, **details},
        )
        return metric_page([replace(run, records=[paid])])

    assert "<td>79,000</td><td>0.3333</td>" in page(cost=0.001)
    assert "<td>79,000</td><td>–</td>" in page() and "systems: no tests</li>" in page()


def test_runs_without_judgments_have_no_such_page(project, capsys):
    spec = {
        "task": "words",
        "dataset": {"reader": "words", "count": 4},
        "models": [{"echo": {"n": 1}}],
        "metrics": ["length"],
    }
    harness.evaluate(spec, output="r")
    assert main(["report", "r", "--gallery"]) == 2
    assert (
        "no run of judgments" in capsys.readouterr().err
        and not (project / "r" / "metrics.html").exists()
    )
