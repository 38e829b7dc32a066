"""Estimates of human scores as a tuple, a table and JSON; plans as CSV."""

from __future__ import annotations

from harness.decisions.human_scores import HumanScore, HumanScores, LabelPlan
from harness.decisions.statistics.prediction_powered import PoweredMean


def powered(value: float, error: float) -> PoweredMean:
    ends = (value - 2 * error, value + 2 * error)
    return PoweredMean(value=value, standard_error=error, ci95=ends)


def test_estimates_are_a_tuple_with_fields():
    row = HumanScore("ours", powered(3.0, 0.1), powered(3.1, 0.2), 20, 100)
    result = HumanScores([row], ["a note"], ("cider",))
    estimates, notes = result
    assert estimates == result.estimates == [row] and notes == ["a note"]
    assert row.saved is not None and round(row.saved) == 60
    assert result.to_dict()["estimates"][0]["saved"] == row.saved
    assert "human score by cider" in str(result) and "a note" in str(result)


def test_a_plan_is_csv():
    plan = LabelPlan([{"id": "1", "caption": "a, b", "score": ""}])
    assert plan.to_csv().splitlines() == ["id,caption,score", '1,"a, b",']
    assert str(plan) == plan.to_csv().rstrip()
