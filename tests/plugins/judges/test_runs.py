"""Judges in runs: a task of human judgments, a server that fails,
a second run without requests.
"""

from __future__ import annotations

import itertools
import json
import threading

import pytest

import harness
from harness.cli.main import main


@pytest.fixture
def spec(tmp_path, server):
    rows = [
        {
            "item": str(k),
            "references": [f"a dog {k}", f"the dog {k}"],
            "caption": caption,
            "score": score,
        }
        for k in range(12)
        for caption, score in ((f"dog {k}", 4), (f"a cat {k}", 2), (f"tree {k}", 1))
    ]
    (tmp_path / "captions.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"""task: judged
judgments:
  form: captions
  path: captions.jsonl
  columns: {{item: item, references: references, caption: caption, score: score}}
statistics: [kendall_b]
metrics:
  - clair:
      judge: {{base_url: "{server.url}", model: m, first_wait: 0.01, retries: 3}}
"""
    )
    counter = itertools.count()
    lock = threading.Lock()

    def answer(body):
        with lock:
            if next(counter) % 10 == 9:
                return {"choices": []}
        captions = body["messages"][0]["content"].split("Set B")[0]
        score = 90 if "dog" in captions else 50 if "cat" in captions else 10
        return {"choices": [{"message": {"content": json.dumps({"score": score})}}]}

    server.answer = answer
    return path


def test_agreement_with_people_is_reported_and_a_second_run_asks_nothing(
    spec, server, tmp_path
):
    record = harness.evaluate(str(spec), output=str(tmp_path / "one")).results[0]
    assert (record["metric"], record["value"]) == ("clair", pytest.approx(1.0))
    assert record["n"] == 36
    requests = len(server.requests)
    assert requests >= 36
    harness.evaluate(str(spec), output=str(tmp_path / "two"))
    assert len(server.requests) == requests


def test_a_server_that_is_down_ends_the_run_with_one_line(
    spec, server, tmp_path, capsys
):
    server.script = [(503, {"Retry-After": "0"}, "down")] * 1000
    assert main(["run", str(spec), "--output", str(tmp_path / "out")]) == 2
    errors = [
        line
        for line in capsys.readouterr().err.splitlines()
        if line.startswith("harness:")
    ]
    assert (
        len(errors) == 1
        and "requests in a row have no answer" in errors[0]
        and "HTTP 503: down" in errors[0]
    )


def test_a_shipped_task_reports_the_agreement_of_judges_beside_that_of_other_metrics(
    server, tmp_path, monkeypatch
):
    import gzip

    captions = (
        ("a dog runs", 4.0),
        ("a dog", 3.0),
        ("a cat sits", 2.0),
        ("one fast runs", 1.0),
    )
    rows = [
        {
            "file_name": f"{k}.jpg",
            "references": ["a dog runs fast", "one dog runs"],
            "caption": text,
            "human_mean": score,
        }
        for k in range(6)
        for text, score in captions
    ]
    (tmp_path / "flickr8k_expert").mkdir()
    with gzip.open(tmp_path / "flickr8k_expert" / "judgments.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))

    def answer(body):
        prompt = body["messages"][0]["content"]
        caption = (
            prompt.split("Set B")[0]
            if "Set B" in prompt
            else prompt.split("Caption to grade:")[1]
        )
        grade = (
            4
            if "dog runs" in caption
            else 3
            if "dog" in caption
            else 2
            if "cat" in caption
            else 1
        )
        content = (
            {"score": 25 * grade}
            if "Set B" in prompt
            else dict.fromkeys(("correctness", "completeness", "fluency"), grade)
        )
        return {"choices": [{"message": {"content": json.dumps(content)}}]}

    server.answer = answer
    judge = {"base_url": server.url, "model": "m", "first_wait": 0.01}
    metrics = [
        {"bleu1": {"tokenizer": "none"}},
        {"clair": {"judge": judge}},
        {"rubric": {"judge": judge}},
    ]
    run = harness.evaluate(
        "judgments/flickr8k-expert", metrics=metrics, output=str(tmp_path / "out")
    )
    by_metric = {
        record["metric"]: record["value"]
        for record in run.results
        if record["statistic"] == "kendall_b"
    }
    assert by_metric["clair"] == pytest.approx(1.0) and by_metric[
        "rubric"
    ] == pytest.approx(1.0)
    assert by_metric["bleu1"] < 1.0
