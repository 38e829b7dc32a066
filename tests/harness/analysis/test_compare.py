"""Comparing runs and models."""

from __future__ import annotations

import pytest

import harness
from harness.analysis.compare import ComparedRun, compare_runs, pairs, verdict
from harness.errors import HarnessError, InputError

SPEC = {
    "task": "words",
    "dataset": {"reader": "words"},
    "models": [{"echo": {"n": 1, "label": "short"}}, {"echo": {"n": 3, "label": "long"}}],
    "metrics": ["length"],
}


def opened(*paths):
    return [ComparedRun.open(path) for path in paths]


def test_models_of_one_run_are_compared_pair_by_pair(project):
    harness.evaluate(SPEC, output="r")
    (row,) = compare_runs(["r"])
    assert (row["system_a"], row["system_b"], row["difference"], row["n"]) == ("short", "long", -1.0, 6)
    assert row["sign_p_value"] == pytest.approx(2 / 64)
    assert row["p_value"] == pytest.approx(2 / 64, abs=0.03)
    assert row["p_holm"] == row["p_value"]
    assert row["better"] == "B" if row["higher_is_better"] else "="
    assert verdict(-1.0, 0.01, True) == "B"
    assert verdict(-1.0, 0.01, False) == "A"
    assert verdict(-1.0, 0.06, True) == "="


def test_runs_on_different_data_are_not_paired_by_chance(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate({**SPEC, "dataset": {"reader": "words", "count": 7}}, output="s")
    with pytest.raises(HarnessError, match="r and s read different data"):
        compare_runs(["r", "s"])
    assert len(compare_runs(["r", "s"], any_data=True)) == 2


def test_two_runs_are_matched_by_model_or_chosen_by_name(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="s", seed=2)
    assert [(a.model, b.model) for a, b in pairs(opened("r", "s"))] == [("short", "short"), ("long", "long")]
    assert [(a.model, b.model) for a, b in pairs(opened("r::short", "s::long"))] == [("short", "long")]
    with pytest.raises(HarnessError, match="has no model 'lang'; did you mean 'long'"):
        compare_runs(["r::lang", "s"])
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        compare_runs(["nowhere", "r"])
