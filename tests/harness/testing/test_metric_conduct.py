"""Checks of a metric's conduct: unchanged inputs, plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.contracts import Cost, LeftOut, MetricSpec
from harness.testing import check_metric
from harness.testing.metric_conduct import CONDUCT_CHECKS, TOKEN_SCORE_CHECKS

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class SortsStatistics(Base):
    """Sorts the statistics in place."""

    def reduce(self, stats, weights=None):
        stats[:, 0] = np.sort(stats[:, 0])
        return super().reduce(stats, weights)


class NormalisesWeights(Base):
    """Divides the weights in place."""

    def reduce(self, stats, weights=None):
        if weights is not None:
            weights /= weights.sum(axis=1, keepdims=True)
        return super().reduce(stats, weights)


class SortsIds(Base):
    """Sorts the text ids in place."""

    def scores(self, batch, features, state):
        (
            batch.text_ids if batch.text_ids.base is None else batch.text_ids.base
        ).setflags(write=True)
        batch.text_ids.setflags(write=True)  # batches are read-only
        batch.text_ids.sort(axis=1)
        batch.text_ids[:, :2] = batch.text_ids[:, 1::-1]
        return super().scores(batch, features, state)


class ObjectInDetails(Base):
    """Has an object among its details."""

    def details(self, stats):
        return {"object": object()}


class ListOfDetails(Base):
    """Returns its details as a list."""

    def details(self, stats):
        return [len(stats)]


class LeavesOut(Base):
    """Leaves out each of five groups."""

    share = 0.2
    freedom = 4

    def left_out(self, stats, seed):
        group = np.arange(len(stats)) % 5
        return LeftOut(
            np.array([self.reduce(stats[group != g]) for g in range(5)]),
            self.share,
            self.freedom,
        )


class RandomParts(LeavesOut):
    """Leaves out other parts in each call."""

    calls = 0

    def left_out(self, stats, seed):
        self.calls += 1
        return LeftOut(np.array([1.0, self.calls]), 0.5, 1)


class WholeShare(LeavesOut):
    share = 1.0


class NoFreedom(LeavesOut):
    freedom = 0


class OnePart(LeavesOut):
    def left_out(self, stats, seed):
        return LeftOut(np.ones(1), 0.5, 1)


class CubicMemory(Base):
    """Has an array of all three texts, which it does not declare."""

    def scores(self, batch, features, state):
        np.zeros((len(batch), batch.n + batch.m, batch.n + batch.m, batch.n + batch.m))
        return super().scores(batch, features, state)


class DeclaresTooMuch(Base):
    def cost(self, n, m, tokens, *, tested=False):
        return Cost(0.0, 8.0 * (n + m) ** 3)


@pytest.mark.parametrize(
    ("check", "broken", "reason"),
    [
        ("declared-cost", CubicMemory, "takes 9.3 MB for 100 + 5 texts; cost declares"),
        (
            "declared-cost",
            DeclaresTooMuch,
            "takes 0.0 MB for 100 + 5 texts; cost declares 9.3 MB",
        ),
        (
            "inputs-unchanged",
            SortsStatistics,
            "per_example or reduce modifies the statistics",
        ),
        ("inputs-unchanged", NormalisesWeights, "reduce modifies the weights"),
        ("inputs-unchanged", SortsIds, "modifies the batch's text_ids"),
        ("json-safe", ObjectInDetails, "details()['object'] is <object object at "),
        ("json-safe", ListOfDetails, "details() returns list; expected a dict"),
        ("left-out", RandomParts, "left_out differs when it is called again"),
        (
            "left-out",
            WholeShare,
            "left_out has the share 1.0; expected a number in (0, 1)",
        ),
        ("left-out", NoFreedom, "left_out has 0 degrees of freedom"),
        ("left-out", OnePart, "left_out has values of shape (1,)"),
    ],
)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert result.reason.startswith(reason)


def test_details_of_plain_data_pass(overlap, outcome):
    class Details(Base):
        """Has numbers among its details."""

        def details(self, stats):
            row = {"mean": np.float64(stats.mean()), "nan": float("nan"), "none": None}
            return {"count": len(stats), "rows": [row], "column": stats[:, 0]}

    assert outcome("metrics", "json-safe", overlap(Details)).status == "pass"
    assert outcome("metrics", "json-safe", overlap()).reason == "has no details"


def test_numbers_without_parts_pass(overlap, outcome):
    assert outcome("metrics", "left-out", overlap(LeavesOut)).status == "pass"
    assert outcome("metrics", "left-out", overlap()).reason == "leaves out no parts"


def test_the_shared_checks_are_among_them():
    shared = {
        "deterministic",
        "random-state",
        "pickles",
        "parameters",
        "signature-in-use",
        "no-network",
    }
    assert shared < set(CONDUCT_CHECKS.names)


class MeanLogProbability:
    """Mean log-probability of a token."""

    spec = MetricSpec(
        "mean-log-probability",
        True,
        level="model",
        needs=frozenset({"references", "logprobs"}),
    )

    def __init__(self, *, fault: str = "") -> None:
        self.fault = fault
        self.calls = 0

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
        value = float(
            np.mean([entry.log_probs.mean() for example in scores for entry in example])
        )
        if self.fault == "changes":
            value += self.calls
        return (
            {"mean": [value] if self.fault == "array" else value}
            if self.fault != "empty"
            else {}
        )

    def per_example(self, scores):
        rows = [
            float(np.mean([entry.log_probs.mean() for entry in example]))
            for example in scores
        ]
        return {"mean": np.array(rows[:-1] if self.fault == "short" else rows)}


def failures(metric):
    return {o.check: o.reason for o in check_metric(metric) if o.failed}


@pytest.mark.parametrize(
    ("fault", "check", "reason"),
    [
        ("raises", "columns", "raised ValueError: no scores"),
        (
            "list",
            "columns",
            "raised TypeError: evaluate_scores returns list; "
            "expected a dict of numbers",
        ),
        ("empty", "columns", "evaluate_scores returns no column"),
        ("array", "columns", "the column ['mean'] is not a number with a name"),
        ("short", "columns", "per_example: column 'mean' has shape (4,)"),
        ("modifies", "token-scores-unchanged", "modifies the token scores"),
        ("changes", "deterministic", "returns other columns when run again: mean: "),
        ("prints", "prints-nothing", "prints to stdout: 'scoring"),
    ],
)
def test_a_fault_with_token_scores_is_detected(fault, check, reason):
    assert failures(MeanLogProbability(fault=fault))[check].startswith(reason)


def test_every_check_of_the_module_has_a_fault():
    assert set(TOKEN_SCORE_CHECKS.names) == {"columns", "token-scores-unchanged"}


def test_checks_of_captions_are_not_applicable():
    outcomes = {o.check: o for o in check_metric(MeanLogProbability())}
    assert not [o for o in outcomes.values() if o.failed]
    assert outcomes["shapes"].status == "not applicable"
    assert outcomes["shapes"].reason == "scores token probabilities, not captions"
    for check in (
        "spec",
        "described",
        "signature",
        "columns",
        "deterministic",
        "random-state",
        "pickles",
    ):
        assert outcomes[check].status == "pass", check
