"""Conditions on which a run stops."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness.run.metric_plan import caption_plans, metric_plans
from harness.run.stopping_conditions import Condition, read_conditions
from harness.spec.models import UntilSpec
from harness.stats.anytime import Look

PLANS = caption_plans(metric_plans(["cider", "rouge", "bleu4", {"distinct": {"n": 2}}]))


@pytest.mark.parametrize(
    ("text", "metric", "systems", "sign", "width"),
    [
        ("CIDEr-D: ours > theirs", 0, (0, 1), ">", 0.0),
        ("  rouge:ours<theirs ", 1, (0, 1), "<", 0.0),
        ("ROUGE-L ± 0.01", 1, (), "", 0.01),
        ("bleu4 +- 1e-3", 2, (), "", 0.001),
        ("BLEU-4+/-.5", 2, (), "", 0.5),
    ],
)
def test_conditions_are_read(text, metric, systems, sign, width):
    condition = Condition.parse(text, PLANS, ["ours", "theirs"])
    assert (condition.metric, condition.systems, condition.sign, condition.width) == (
        metric,
        systems,
        sign,
        width,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CIDEr-D", "expected 'METRIC: SYSTEM > SYSTEM' or 'METRIC ± HALF-WIDTH'"),
        ("CIDEr-D: ours = theirs", "expected 'METRIC: SYSTEM > SYSTEM'"),
        ("CIDEr-D ± wide", "expected"),
        ("cidr: ours > theirs", "no metric 'cidr'; did you mean 'cider'"),
        ("cider: our > theirs", "no system 'our'; did you mean 'ours'"),
        ("cider: ours > their", "no system 'their'; did you mean 'theirs'"),
    ],
)
def test_conditions_that_cannot_be_read_are_one_line(text, message):
    with pytest.raises(HarnessError, match=message) as caught:
        Condition.parse(text, PLANS, ["ours", "theirs"])
    assert "\n" not in str(caught.value)


def test_a_condition_that_cannot_be_read_is_answered_with_what_the_run_has():
    for text, message, value in (
        (
            "x",
            "until is 'x'; expected 'METRIC: SYSTEM > SYSTEM' or 'METRIC ± "
            "HALF-WIDTH', as 'CIDEr-D: ours > theirs'",
            None,
        ),
        (
            "cider: ours > their",
            "until: there is no system 'their'; did you mean 'theirs'?; "
            "the run has ours, theirs",
            "their",
        ),
        (
            "cidr: ours > theirs",
            "until: there is no metric 'cidr'; did you mean 'cider'?; the run has "
            "cider, rouge, bleu4, distinct2, CIDEr-D, ROUGE-L (COCO), BLEU-4, "
            "Distinct-2",
            "cidr",
        ),
    ):
        with pytest.raises(HarnessError) as caught:
            Condition.parse(text, PLANS, ["ours", "theirs"])
        assert (str(caught.value), caught.value.value) == (message, value)


def test_a_system_may_have_a_name_of_several_words():
    condition = Condition.parse(
        "ROUGE-L : my model<the other one", PLANS, ["x", "the other one", "my model"]
    )
    assert (condition.metric, condition.systems, condition.sign) == (1, (2, 1), "<")


def test_a_system_of_several_decodings_is_refused():
    with pytest.raises(HarnessError, match="'ours' has several decodings or sizes"):
        Condition.parse("cider: ours > theirs", PLANS, ["ours", "ours", "theirs"])


def test_metrics_without_a_sequence_are_refused():
    with pytest.raises(
        HarnessError,
        match="has no confidence sequence: its number is no function of sums",
    ):
        read_conditions(UntilSpec(conditions=["distinct2: a > b"]), PLANS, ["a", "b"])
    with pytest.raises(
        HarnessError, match="^until: 'Distinct-2' has no confidence sequence"
    ):
        read_conditions(
            UntilSpec(conditions=["rouge: a > b", "distinct2: a > b"]),
            PLANS,
            ["a", "b"],
        )
    for population in (False, True):
        conditions = read_conditions(
            UntilSpec(conditions=["rouge: a > b", "cider ± 1"], population=population),
            PLANS,
            ["a", "b"],
        )
        assert [(item.metric, item.text) for item in conditions] == [
            (1, "rouge: a > b"),
            (0, "cider ± 1"),
        ]
    with pytest.raises(
        HarnessError,
        match="population: 'BLEU-4' is no mean of scores with known bounds",
    ):
        read_conditions(
            UntilSpec(conditions=["bleu4: a > b"], population=True), PLANS, ["a", "b"]
        )


@pytest.mark.parametrize(
    ("low", "high", "greater", "less"),
    [
        (0.1, 0.3, "confirmed", "refuted"),
        (-0.3, -0.1, "refuted", "confirmed"),
        (-0.1, 0.2, "undecided", "undecided"),
    ],
)
def test_verdicts_of_an_order(low, high, greater, less):
    looks = [Look(100, (low + high) / 2, low, high, 0.5 if low < 0 < high else 0.01)]
    for sign, expected in ((">", greater), ("<", less)):
        condition = Condition("", 0, (0, 1), sign)
        assert condition.verdict([looks], 0.05) == expected
        assert condition.pairs(3) == [(0, 1)]


def test_the_verdict_of_an_order_is_that_of_the_look_that_decided_it():
    looks = [
        Look(100, -0.1, -0.3, 0.1, 0.5),
        Look(200, 0.2, 0.1, 0.3, 0.01),
        Look(300, -0.01, -0.1, 0.1, 0.01),
    ]
    assert [Condition("", 0, (0, 1), sign).verdict([looks], 0.05) for sign in "><"] == [
        "confirmed",
        "refuted",
    ]
    assert Condition("", 0, (0, 1), ">").verdict([looks], 0.01) == "confirmed", (
        "a p-value that is the level decides"
    )
    assert Condition("", 0, (0, 1), ">").verdict([looks], 0.009) == "undecided"


def test_verdicts_of_a_precision_need_every_system():
    condition = Condition("", 0, width=0.5)
    narrow = Look(9, 0.5, 0.0, 1.0, 1)
    wide = Look(9, 0.5, -0.1, 1.1, 1)
    assert condition.verdict([[wide, narrow], [narrow]], 0.05) == "confirmed"
    assert condition.verdict([[narrow], [narrow, wide]], 0.05) == "undecided"
    assert condition.pairs(2) == [(0, None), (1, None)]
