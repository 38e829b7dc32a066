"""Intervals of metrics that judge token scores."""

from __future__ import annotations

import numpy as np

from harness.contracts import Interval, MetricSpec
from harness.run import token_intervals
from harness.run.intervals import NO_EXAMPLES


class Cost:
    """A metric of level ``model`` that costs at least 1."""

    spec = MetricSpec("cost", False, level="model", bounds=(1.0, np.inf))

    def intervals(self, scores, samples, seed):
        return {
            "a": Interval((-2.0, 3.0)),
            "b": Interval((1.5, 2.0)),
            "c": Interval(None, "why"),
        }


def test_intervals_of_token_scores_end_at_the_bounds():
    found = token_intervals.token_intervals(
        Cost(), [[], []], {"a": 1.5, "b": 1.7, "c": 0.0}, 9, 0
    )  # type: ignore[arg-type]
    assert found == {
        "a": Interval((1.0, 3.0)),
        "b": Interval((1.5, 2.0)),
        "c": Interval(None, "why"),
    }


class Tokens:
    spec = MetricSpec("tokens", True, level="model")

    def signature(self):
        return "tokens"

    def evaluate_scores(self, scores):
        return {"a": 1.0, "b": 2.0}

    def per_example(self, scores):
        return {}


class Direct(Tokens):
    def intervals(self, scores, samples, seed):
        return {"a": Interval((0.0, float(samples + seed)))}


def intervals_of(metric, count=4, samples=300):
    return token_intervals.token_intervals(
        metric, [[]] * count, metric.evaluate_scores([]), samples, 5
    )


def test_intervals_of_token_scores():
    assert {item.note for item in intervals_of(Tokens()).values()} == {
        token_intervals.NO_INTERVAL
    }
    assert set(intervals_of(Direct(), samples=0).values()) == {Interval(None)}
    assert set(intervals_of(Direct(), count=1).values()) == {
        Interval(None, NO_EXAMPLES)
    }
    for count in (2, 4):
        assert intervals_of(Direct(), count) == {
            "a": Interval((0.0, 305.0)),
            "b": Interval(None, token_intervals.NO_INTERVAL),
        }
