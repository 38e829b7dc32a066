"""The win rate against references."""

from __future__ import annotations

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness.testing import check_metric
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.win_rate_metric import WinRate

SETS = [CaptionSet("1", ("a big dog", "dog"), ("a dog", "the dog runs fast"))]


def stats(metric: WinRate) -> np.ndarray:
    features = FeatureCache([item.references for item in SETS])
    return metric.stats(features.batch(SETS), features, None)


def test_the_contract_holds(overlap):
    outcomes = check_metric(WinRate(judge=Judge(overlap)))
    assert {o.check: o.reason for o in outcomes if o.failed} == {}


def test_each_candidate_meets_the_first_references(overlap):
    assert stats(WinRate(judge=overlap))[0, 0] == 0.5  # one win, one defeat against "a dog"
    assert stats(WinRate(judge=overlap, opponents=5))[0, 0] == 0.25


def test_the_bias_of_position_is_in_the_details(scripted):
    metric = WinRate(judge=scripted(lambda talk: '{"better": "A"}'))
    details = metric.details(stats(metric))
    assert details["first place"] == 1.0 and details["contradictions"] == 1.0
    assert details["answers"]["valid"] == 4  # type: ignore[index]


@pytest.mark.parametrize(("unanswered", "value"), [("undefined", np.nan), ("lowest", 0.0)])
def test_refusals_have_no_points(scripted, unanswered, value: float):
    model = scripted(lambda talk: "I'm sorry, I cannot compare them.")
    score = harness.metric("win-rate", judge=model, unanswered=unanswered)([["a"]], [["b"]]).per_example
    np.testing.assert_array_equal(score, [value])
