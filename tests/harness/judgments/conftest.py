"""Small judgment sets as files, and metrics that need nothing installed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import MeanMetric, MetricSpec
from harness.judgments.judgment_models import JudgmentSource
from harness.judgments.plan import make_judgment_plan
from harness.spec.loading import load_specs
from tests.support.judged_sets import RECORDS


class Length(MeanMetric):
    """Mean number of characters of the candidates; ``sign`` -1 makes it a cost,
    ``undefined`` leaves texts without a score.
    """

    def __init__(self, *, sign=1, undefined=()):
        self.sign = sign
        self.undefined = tuple(undefined)
        self.spec = MetricSpec(
            "length" if sign > 0 else "cost", higher_is_better=sign > 0
        )
        self.calls = 0

    def scores(self, batch, features, state):
        self.calls += 1
        means = [
            np.mean([len(text) for text in item.candidates]) for item in batch.sets
        ]
        lost = [
            any(text in self.undefined for text in item.candidates)
            for item in batch.sets
        ]
        return np.where(lost, np.nan, self.sign * np.array(means))


@pytest.fixture
def length():
    return Length


@pytest.fixture
def jsonl(tmp_path):
    """Writes records as JSON Lines and returns the path as text."""

    def write(records, name="j.jsonl"):
        path = tmp_path / name
        path.write_text(
            "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
        )
        return str(path)

    return write


@pytest.fixture
def source():
    """Makes a source: ``source(path, form="pairs", ...)``."""

    def make(path, form="captions", **more):
        return JudgmentSource.model_validate({"form": form, "path": path, **more})

    return make


@pytest.fixture
def plan(monkeypatch):
    """Makes a plan of a judgments section and further keys;
    its metrics are objects that no registry has.
    """
    monkeypatch.setattr("harness.run.provenance.plugins", lambda names, failures: [])

    def make(judgments, metrics, **more):
        content = {
            "task": "t",
            "judgments": judgments,
            "metrics": ["novelty"],
            "statistics": ["kendall_b"],
            **more,
        }
        (loaded,) = load_specs(content)
        from dataclasses import replace

        from harness.run.metric_plan import MetricPlan

        plans = tuple(MetricPlan(m.spec.name, m.spec.name, {}, m) for m in metrics)
        return replace(make_judgment_plan(loaded), metrics=plans)

    return make


def rated(rows):
    """Records of (item, system, caption, score)."""
    return [
        {
            "id": item,
            "system": system,
            "caption": caption,
            "human_score": score,
            "references": [f"reference of {item}"],
        }
        for item, system, caption, score in rows
    ]


@pytest.fixture
def wmt(golden):
    """Scores of people and of two metrics, and the values of mt-metrics-eval
    (tests/golden/mt_metrics_eval).
    """
    return json.loads((golden / "mt_metrics_eval/values.json").read_text())


@pytest.fixture
def judgments(jsonl):
    return {"form": "captions", "path": jsonl(RECORDS)}


@pytest.fixture
def write(tmp_path):
    def dump(value, name="j.json", indent=2):
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=indent))
        return str(path)

    return dump
