"""Pairs of systems: of one run, of two, against a baseline; their labels."""

from __future__ import annotations

import pytest

import harness
from harness.analysis.compare import compare
from harness.analysis.pairs import ComparedRun, pairs, pairs_against
from harness.errors import HarnessError, InputError
from tests.support.comparisons import SPEC


def opened(*paths):
    return [ComparedRun.open(path) for path in paths]


def test_a_baseline_is_compared_with_the_others(project):
    models = [*SPEC["models"], {"echo": {"n": 2, "label": "middle"}}]
    harness.evaluate({**SPEC, "models": models}, output="r")
    rows = compare("r", baseline="long")
    assert [(row.system_a, row.system_b) for row in rows] == [("short", "long"), ("middle", "long")]
    with pytest.raises(HarnessError, match="no model 'lang'; did you mean 'long'"):
        compare("r", baseline="lang")
    with pytest.raises(HarnessError, match="systems of one run"):
        compare("r", "r", baseline="long")


def test_a_baseline_belongs_to_the_same_decoding(project):
    harness.evaluate({**SPEC, "decoding": {"temperature": [0.5, 1.0]}}, output="r")
    chosen = pairs_against(opened("r"), "short")
    assert [(pair.a.model, pair.a.decoding_key == pair.b.decoding_key) for pair in chosen] == [("long", True)] * 2


def test_two_runs_are_matched_by_model_or_chosen_by_name(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="s", seed=2)
    assert [(p.a.model, p.b.model) for p in pairs(opened("r", "s"))] == [("short", "short"), ("long", "long")]
    assert [(p.a.model, p.b.model) for p in pairs(opened("r::short", "s::long"))] == [("short", "long")]
    with pytest.raises(HarnessError, match="has no model 'lang'; did you mean 'long'"):
        compare("r::lang", "s")
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        compare("nowhere", "r")


def test_labels_of_both_runs_are_told_apart(project):
    harness.evaluate(SPEC, output="r")
    harness.evaluate(SPEC, output="s", seed=2)
    rows = compare("r", "s")
    assert (rows[0].system_a, rows[0].system_b) == ("r::short", "s::short")
    assert {row.difference for row in rows} == {0.0}
    assert {row.p_value for row in rows} == {1.0}


def test_labels_have_the_decoding_where_the_run_has_several(project):
    harness.evaluate({**SPEC, "references": 1}, output="r")
    (row,) = compare("r")
    assert (row.system_a, row.system_b) == ("short", "long")
    harness.evaluate({**SPEC, "references": [1, 2]}, output="s")
    labels = {row.system_a for row in compare("s")}
    assert labels == {"short m=1", "short m=2", "long m=1"}
