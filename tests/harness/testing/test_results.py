"""Lists of checks, and the metrics of level model that are judged by two of them."""

from __future__ import annotations

from harness.contracts import MetricSpec, TokenScores
from harness.testing import check_metric
from harness.testing.results import Checks, NotApplicable, Violation


class Model:
    """A metric of level model."""

    spec = MetricSpec("model", True, level="model", needs=frozenset({"references", "logprobs"}))

    def signature(self):
        return "model"

    def evaluate_scores(self, scores):
        scores[0][0].log_probs[:] = 0
        return {"mean": [1.0]}

    def per_example(self, scores: list[list[TokenScores]]):
        return {}


def test_a_metric_of_level_model():
    found = {o.check: o.reason for o in check_metric(Model()) if o.failed}
    assert {"columns", "token-scores-unchanged"} <= found.keys()
    assert not {"scores", "shapes"} & found.keys()


def test_checks_run_in_order_and_report():
    checks = Checks("metrics")

    @checks.add
    def first_one(subject):
        raise Violation("no")

    @checks.add
    def second(subject):
        raise NotApplicable("why")

    assert [(o.check, o.status, o.reason) for o in checks.run(None)] == [
        ("first-one", "fail", "no"),
        ("second", "not applicable", "why"),
    ]
