"""Comparisons that are stored or cheap are computed; the others are postponed."""

from __future__ import annotations

import harness
from harness.analysis.compare import compare_pairs
from harness.analysis.comparison_budget import (
    GENERAL,
    PER_EXAMPLE,
    PER_PRODUCT,
    PER_TEST,
    affordable,
    compare_affordable,
)
from harness.analysis.pairs import ComparedRun, pairs

SPEC = {
    "task": "t",
    "dataset": {"reader": "words"},
    "models": [
        {"echo": {"label": "a"}},
        {"echo": {"label": "b", "n": 3}},
        {"echo": {"label": "c", "n": 1}},
    ],
    "metrics": ["mine/length", {"distinct": {"n": 1}}],
    "bootstrap": {"samples": 20},
}


def test_sums_come_first_and_stored_tests_cost_nothing(project):
    harness.evaluate(SPEC, output="r")
    compared = pairs([ComparedRun.open("r")])
    assert affordable(compared).metrics == ("length", "distinct1")
    assert affordable(compared, 4 * PER_TEST).metrics == ("length",)
    plan = affordable(compared, 3 * PER_TEST)
    assert (plan.metrics, plan.postponed, plan.missing) == (
        (),
        ("length", "distinct1"),
        6,
    )
    assert affordable(compared, 4 * PER_TEST + 18 * GENERAL).postponed == ()
    compare_pairs(compared, metrics=["distinct1"])
    assert affordable(compared, 0).metrics == ("distinct1",)
    assert affordable(compared, None).metrics == ("length", "distinct1")


def test_the_estimate_grows_with_tests_systems_and_examples(project):
    harness.evaluate({**SPEC, "metrics": ["mine/length", "rouge"]}, output="r")
    compared = pairs([ComparedRun.open("r")])
    one = 3 * PER_TEST + 6 * PER_EXAMPLE + 3 * 6 * PER_PRODUCT
    assert affordable(compared, one * 0.999).metrics == ()
    assert affordable(compared, one).metrics == ("length",)
    other = 3 * PER_TEST + 3 * 6 * PER_PRODUCT  # the weights are drawn once
    assert affordable(compared, one + other).metrics == ("length", "rouge")


def test_rows_follow_their_pairs(project):
    harness.evaluate(SPEC, output="r")
    compared = pairs([ComparedRun.open("r")])
    rows = compare_affordable(compared, ["length"])
    assert [(row.system_a, row.system_b, row.metric) for _, row in rows] == [
        ("a", "b", "length"),
        ("a", "c", "length"),
        ("b", "c", "length"),
    ]
    assert [pair.labels for pair, _ in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
