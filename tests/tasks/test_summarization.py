"""The summarisation task on its sample and on small data sets in the layouts of XSum
and TL;DR.
"""

from __future__ import annotations

import json

import pytest

from harness.run.execute import execute
from harness.run.plan import make_plan
from harness.spec.loading import load_specs

SMALL = [
    "metrics=[rouge, caption-length]",
    "views=[]",
    "bootstrap.samples=0",
    "significance={method: none}",
]


def values(run, metric):
    return {
        record["model"]: record["value"]
        for record in run.results
        if record["metric"] == metric
    }


@pytest.fixture(autouse=True)
def no_files(monkeypatch):
    for name in ("SUMMARIES", "OUTPUTS", "SOURCE", "SUMMARY", "ID", "SPLIT"):
        monkeypatch.delenv(name, raising=False)


def test_the_sample_has_several_summaries_of_each_text():
    (loaded,) = load_specs("summarization", SMALL)
    assert loaded.spec.notice
    plan = make_plan(loaded)
    examples = list(plan.reader)
    assert len(examples) == 6 and all(
        len(example.references) == 4 and example.source for example in examples
    )
    found = values(execute(plan), "rouge")
    assert found["summaries of another text"] < min(
        found["first sentence"], found["human, two held out"]
    )


@pytest.mark.parametrize(("source", "key"), [("document", "id"), ("content", "id")])
def test_a_data_set_of_the_library(source, key, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    rows = {
        source: ["a long text", "another text"],
        "summary": ["long text", "other words"],
        key: ["x", "y"],
    }
    datasets.DatasetDict({"test": datasets.Dataset.from_dict(rows)}).save_to_disk(
        str(tmp_path / "set")
    )
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text(
        "".join(
            json.dumps({"id": k, "caption": "long text"}) + "\n" for k in ("x", "y")
        )
    )
    monkeypatch.setenv("SUMMARIES", str(tmp_path / "set"))
    monkeypatch.setenv("OUTPUTS", str(outputs))
    monkeypatch.setenv("SOURCE", source)
    (loaded,) = load_specs("summarization", SMALL)
    plan = make_plan(loaded)
    assert [example.source for example in plan.reader] == rows[source]
    assert values(execute(plan), "rouge")["outputs"] == 0.5
