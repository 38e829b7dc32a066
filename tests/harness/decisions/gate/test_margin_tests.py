"""The test of a row of a gate, by what is declared of its metric."""

from __future__ import annotations

import dataclasses
from math import inf

import numpy as np
import pytest

from harness.analysis.score_logs import LoggedScore
from harness.contracts import MeanMetric
from harness.decisions.gate.margin import Margin
from harness.decisions.gate.margin_tests import (
    GatedExamples,
    choose_test,
    look_right_or_wrong,
)
from harness.decisions.statistics.bounded_mean import BoundedMean
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import HarnessError
from tests.support.gates import answers, examples, in_order, paired


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("bounds", [None, (0.0, 8.0)])
def test_a_share_of_the_baseline_is_subtracted_from_the_worsening(higher, bounds):
    """The worsening is 4.5 % of the baseline in every example: 5 % passes and 4 %
    fails, for scores and for costs.
    """
    old = np.random.default_rng(0).uniform(1.0, 7.0, 4000)
    new = old * (0.955 if higher else 1.045) + 0.001 * np.random.default_rng(1).normal(
        size=4000
    )
    item = paired(LoggedScore("x", bounds), new, old, higher=higher)
    passed, failed = (
        choose_test(item, Margin(share, relative=True), examples(4000), 0)
        for share in (0.05, 0.04)
    )
    assert (
        passed.p_pass <= LEVEL < passed.p_fail
        and failed.p_fail <= LEVEL < failed.p_pass
    )
    assert passed.size == pytest.approx(0.05 * old.mean())
    assert (
        failed.size < failed.bounds[0] < failed.bounds[1]
        and passed.bounds[0] < passed.bounds[1] < passed.size
    )


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("bounds", [(0.0, 8.0), (-8.0, 0.0)])
@pytest.mark.parametrize("has_bounds", [True, False])
def test_a_relative_margin_moves_with_each_example_of_the_baseline(
    bounds, higher, has_bounds
):
    """The test against a share of the baseline is that of the worsening minus this
    share of |baseline|, example by example, against 0.
    """
    share = 0.1
    sign = -1.0 if higher else 1.0
    rng = np.random.default_rng(3)
    old = rng.uniform(2.0, 6.0, 400) + bounds[0]
    new = old + rng.normal(0.02, 0.3, 400)
    exceeding = sign * (new - old) - share * np.abs(old)
    tested = choose_test(
        paired(LoggedScore("x", bounds if has_bounds else None), new, old, higher),
        Margin(share, True),
        examples(400),
        0,
    )
    if has_bounds:
        corners = [sign * (x - y) - share * abs(y) for x in bounds for y in bounds]
        expected = BoundedMean.of_values(
            in_order(exceeding, [f"e{k}" for k in range(400)]),
            min(corners),
            max(corners),
        )
        ends = expected.lower(), expected.upper()
    else:
        absolute = choose_test(
            paired(LoggedScore("x"), exceeding, np.zeros(400), higher=False),
            Margin(0.0),
            examples(400),
            0,
        )
        expected = absolute.test
        ends = absolute.bounds
    size = share * abs(old.mean())
    assert tested.size == pytest.approx(size)
    assert tested.bounds == pytest.approx((ends[0] + size, ends[1] + size), rel=1e-4)
    assert tested.p_pass == pytest.approx(expected.p_below(0.0), rel=1e-3)
    assert tested.p_fail == pytest.approx(expected.p_above(0.0), rel=1e-3)


@pytest.mark.parametrize("bounds", [None, (-6.0, 6.0)])
def test_an_example_without_a_value_is_no_unit(bounds):
    """Examples that are undefined in both versions, and clusters of them,
    change nothing.
    """
    old, new = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 120))
    new[40:] = new[40:] + 0.2
    clusters = np.arange(120) // 2
    holes = np.repeat([True, True, False, True, False, False], 20)
    old[~holes] = new[~holes] = np.nan
    for groups in (None, clusters):
        everything = GatedExamples(
            [f"e{k:03}" for k in range(120)], groups, np.zeros(120, dtype=bool), None
        )
        kept = GatedExamples(
            [f"e{k:03}" for k in np.flatnonzero(holes)],
            None if groups is None else groups[holes],
            np.zeros(60, dtype=bool),
            None,
        )
        metric = LoggedScore("x", bounds)
        less = choose_test(paired(metric, new[holes], old[holes]), Margin(0.3), kept, 0)
        if bounds is None:  # the units of a function of sums are found from its addends
            more = choose_test(paired(metric, new, old), Margin(0.3), everything, 0)
            assert more.bounds == pytest.approx(
                less.bounds
            ) and more.test.n == less.test.n == (60 if groups is None else 30)
        mean = np.mean(old[holes] - new[holes])
        assert (
            less.worsening == pytest.approx(mean)
            and less.bounds[0] < mean < less.bounds[1]
        )


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0), (0.0, 9.0)])
def test_costs_are_scores_upside_down(bounds):
    """The errors of two versions decide as their complements do."""
    rng = np.random.default_rng(1)
    new, old = rng.uniform(0.0, 1.0, (2, 300))
    high = 1.0 if bounds is None else bounds[1]
    cost = choose_test(
        paired(LoggedScore("x", bounds), new, old, higher=False),
        Margin(0.08),
        examples(300),
        0,
    )
    score = choose_test(
        paired(LoggedScore("x", bounds), high - new, high - old),
        Margin(0.08),
        examples(300),
        0,
    )
    assert cost.bounds == pytest.approx(score.bounds) and (
        cost.p_pass,
        cost.p_fail,
    ) == pytest.approx((score.p_pass, score.p_fail))
    assert cost.worsening == pytest.approx(float(np.mean(new - old)))


def test_a_score_that_only_looks_right_or_wrong_has_half_of_the_level():
    old, new = (np.array(side) for side in answers(280, 0, 0, 330))
    declared, unknown = (
        choose_test(
            paired(LoggedScore(name), new, old),
            Margin(0.01),
            examples(330, are_answers=True),
            0,
        )
        for name in ("acc,strict", "mine")
    )
    assert (
        unknown.p_pass == pytest.approx(2 * declared.p_pass)
        and declared.p_pass < LEVEL < unknown.p_pass
    )
    assert (declared.least, unknown.least) == (299, 368)
    assert unknown.bounds[1] > declared.bounds[1]
    relative = [
        choose_test(
            paired(LoggedScore(name), new, old),
            Margin(0.01, True),
            examples(330, are_answers=True),
            0,
        )
        for name in ("acc", "mine")
    ]
    assert (
        relative[1].p_pass == pytest.approx(2 * relative[0].p_pass, rel=0.2)
        and relative[0].method == "betting within 0 to 1"
    )


def test_declared_bounds_come_before_what_scores_look_like():
    old, new = (np.array(side) for side in answers(280, 0, 0, 330))
    for bounds, method in (
        ((0.0, 1.0), "betting within 0 to 1"),
        ((0.0, 10.0), "betting within 0 to 10"),
    ):
        tested = choose_test(
            paired(LoggedScore("mine", bounds), new, old),
            Margin(0.02),
            examples(330, are_answers=True),
            0,
        )
        assert tested.method == method and tested.parts == 1
    assert choose_test(
        paired(LoggedScore("acc", (0.0, 1.0)), new, old),
        Margin(0.02),
        examples(330, are_answers=True),
        0,
    ).method.startswith("exact")
    old[0] = 0.5
    assert choose_test(
        paired(LoggedScore("acc", (0.0, 1.0)), new, old), Margin(0.02), examples(330), 0
    ).method.startswith("betting")
    assert choose_test(
        paired(LoggedScore("acc"), new, old), Margin(0.02), examples(330), 0
    ).method.startswith("Student")


@pytest.mark.parametrize(
    ("value", "bounds", "expected"),
    [
        (1.0, None, True),
        (0.5, None, False),
        (np.nan, None, True),
        (1.0, (0.0, 1.0), True),
        (1.0, (0.0, 10.0), False),
    ],
)
def test_scores_look_right_or_wrong(value, bounds, expected):
    item = paired(
        LoggedScore("x", bounds), np.array([0.0, 1.0, value]), np.array([1.0, 1.0, 0.0])
    )
    assert look_right_or_wrong(item) is expected
    item.metric.spec = dataclasses.replace(item.metric.spec, bounds=bounds)
    assert not look_right_or_wrong(dataclasses.replace(item, metric=MeanMetric())), (
        "a metric of the harness declares its bounds"
    )


def test_a_score_outside_of_its_bounds_is_refused():
    with pytest.raises(
        HarnessError, match="'x' has a score of 1.4, outside of its bounds 0 to 1"
    ):
        choose_test(
            paired(
                LoggedScore("x", (0.0, 1.0)), np.array([0.1, 1.4]), np.array([0.2, 0.3])
            ),
            Margin(0.1),
            examples(2),
            0,
        )


@pytest.mark.parametrize("bounds", [None, (0.0, 5.0)])
def test_missing_scores_count_as_the_worst_or_leave_the_gate_undecided(bounds):
    old = np.full(400, 3.0) + np.random.default_rng(0).uniform(-1, 1, 400)
    new = old + 0.5
    new[:4] = np.nan
    lacking = np.isnan(new)
    everything = GatedExamples([f"e{k}" for k in range(400)], None, lacking, None)
    for higher in (True, False):
        tested = choose_test(
            paired(LoggedScore("x", bounds), new, old, higher=higher),
            Margin(0.9),
            everything,
            0,
        )
        if bounds is None:
            assert (
                tested.p_pass == tested.p_fail == 1.0
                and tested.reason == "this metric has no worst value for them"
            )
            assert tested.bounds == (-inf, inf) and tested.n_to_decide(LEVEL) == inf
        else:
            filled = np.where(lacking, 0.0 if higher else 5.0, new)
            assert tested.worsening == pytest.approx(
                (-1 if higher else 1) * float((filled - old).mean())
            )
            assert tested.p_pass < LEVEL
