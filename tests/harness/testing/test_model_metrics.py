"""Checks of metrics of level ``model``."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import MetricSpec
from harness.testing import check_metric
from harness.testing.model_metrics import TOKEN_SCORE_CHECKS


class MeanLogProbability:
    """Mean log-probability of a token."""

    spec = MetricSpec("mean-log-probability", True, level="model", needs=frozenset({"references", "logprobs"}))

    def __init__(self, *, fault: str = "") -> None:
        self.fault, self.calls = fault, 0

    def signature(self):
        return "mean-log-probability"

    def evaluate_scores(self, scores):
        self.calls += 1
        if self.fault == "raises":
            raise ValueError("no scores")
        if self.fault == "list":
            return [1.0]
        if self.fault == "modifies":
            scores[0][0].log_probs[:] = 0
        if self.fault == "prints":
            print("scoring")
        value = float(np.mean([entry.log_probs.mean() for example in scores for entry in example]))
        if self.fault == "changes":
            value += self.calls
        return {"mean": [value] if self.fault == "array" else value} if self.fault != "empty" else {}

    def per_example(self, scores):
        rows = [float(np.mean([entry.log_probs.mean() for entry in example])) for example in scores]
        return {"mean": np.array(rows[:-1] if self.fault == "short" else rows)}


def failures(metric):
    return {o.check: o.reason for o in check_metric(metric) if o.failed}


@pytest.mark.parametrize(
    ("fault", "check", "reason"),
    [
        ("raises", "columns", "raised ValueError: no scores"),
        ("list", "columns", "raised TypeError: evaluate_scores returns list; expected a dict of numbers"),
        ("empty", "columns", "evaluate_scores returns no column"),
        ("array", "columns", "the column ['mean'] is not a number with a name"),
        ("short", "columns", "per_example: column 'mean' has shape (4,)"),
        ("modifies", "token-scores-unchanged", "modifies the token scores"),
        ("changes", "deterministic", "returns other columns when run again: mean: "),
        ("prints", "prints-nothing", "prints to stdout: 'scoring"),
    ],
)
def test_a_fault_is_detected(fault, check, reason):
    assert failures(MeanLogProbability(fault=fault))[check].startswith(reason)


def test_every_check_of_the_module_has_a_fault():
    assert set(TOKEN_SCORE_CHECKS.names) == {"columns", "token-scores-unchanged"}


def test_checks_of_captions_are_not_applicable():
    outcomes = {o.check: o for o in check_metric(MeanLogProbability())}
    assert not [o for o in outcomes.values() if o.failed]
    assert outcomes["shapes"].status == "not applicable"
    assert outcomes["shapes"].reason == "scores token probabilities, not captions"
    for check in ("spec", "described", "signature", "columns", "deterministic", "random-state", "pickles"):
        assert outcomes[check].status == "pass", check
