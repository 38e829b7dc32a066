"""Records of metrics of token scores."""

from __future__ import annotations

import pytest

from harness.contracts import MetricSpec
from harness.run.intervals import NO_INTERVAL, Interval
from harness.run.metric_plan import ModelPlan, TokenMetricPlan
from harness.run.results import token_score_records
from harness.spec.models import Spec


class Columns:
    """A metric of two columns, of which one has an interval."""

    spec = MetricSpec("columns", True, level="model")

    def signature(self):
        return "columns"

    def evaluate_scores(self, scores):
        return {"a": 1.0, "b": 2.0}

    def intervals(self, scores, samples, seed):
        return {"a": Interval((0.5, 1.5))}

    def per_example(self, scores):
        return {}


@pytest.mark.parametrize(("method", "p_note"), [("none", None), ("exact", "judges token scores, not captions")])
def test_a_column_is_a_record_with_its_interval_or_the_reason(method, p_note):
    spec = Spec.model_validate(
        {
            "task": "t",
            "dataset": {"reader": "d"},
            "models": ["m"],
            "metrics": ["columns"],
            "significance": method,
            "bootstrap": {"samples": 9},
        }
    )
    plan = TokenMetricPlan("columns", "columns", {}, Columns())  # type: ignore[arg-type]
    a, b = token_score_records(spec, ModelPlan("label", "m", {"path": "x"}, object()), plan, [[], [], []])  # type: ignore[arg-type]
    assert (a.metric, a.value, a.ci95, a.interval_note) == ("columns(a)", 1.0, (0.5, 1.5), None)
    assert (b.metric, b.value, b.ci95, b.interval_note) == ("columns(b)", 2.0, None, NO_INTERVAL)
    assert (a.model, a.task, a.model_params, a.params, a.level, a.n) == ("label", "t", {"path": "x"}, {"name": "a"}, "model", 3)
    assert a.p_note == b.p_note == p_note
