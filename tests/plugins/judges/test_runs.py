"""Judges in runs: a task of human judgments, a server that fails, a second run without requests."""

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
        {"item": str(k), "references": [f"a dog {k}", f"the dog {k}"], "caption": caption, "score": score}
        for k in range(12)
        for caption, score in ((f"dog {k}", 4), (f"a cat {k}", 2), (f"tree {k}", 1))
    ]
    (tmp_path / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"""task: judged
judgments: {{form: captions, path: captions.jsonl, columns: {{item: item, references: references, caption: caption, score: score}}}}
statistics: [kendall_b]
metrics:
  - clair: {{judge: {{base_url: "{server.url}", model: m, first_wait: 0.01, retries: 3}}}}
"""
    )
    counter, lock = itertools.count(), threading.Lock()

    def answer(body):
        with lock:
            if next(counter) % 10 == 9:
                return {"choices": []}
        captions = body["messages"][0]["content"].split("Set B")[0]
        score = 90 if "dog" in captions else 50 if "cat" in captions else 10
        return {"choices": [{"message": {"content": json.dumps({"score": score})}}]}

    server.answer = answer
    return path


def test_agreement_with_people_is_reported_and_a_second_run_asks_nothing(spec, server, tmp_path):
    record = harness.evaluate(str(spec), output=str(tmp_path / "one")).results[0]
    assert (record["metric"], record["value"]) == ("clair", pytest.approx(1.0))
    assert record["n"] == 36
    requests = len(server.requests)
    assert requests >= 36
    harness.evaluate(str(spec), output=str(tmp_path / "two"))
    assert len(server.requests) == requests


def test_a_server_that_is_down_ends_the_run_with_one_line(spec, server, tmp_path, capsys):
    server.script = [(503, {"Retry-After": "0"}, "down")] * 1000
    assert main(["run", str(spec), "--output", str(tmp_path / "out")]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("harness:")]
    assert len(errors) == 1 and "requests to the judge failed" in errors[0] and "HTTP 503: down" in errors[0]
