"""Planning from a pilot run."""

from __future__ import annotations

import pytest

import harness
from harness.analysis.power import needed
from harness.analysis.power_sizes import plan_sizes
from harness.errors import HarnessError

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 20},
    "models": ["echo"],
    "decoding": {"candidates": 4},
    "metrics": ["length"],
}


def test_more_candidates_never_need_a_larger_size_for_a_weaker_target(project):
    harness.evaluate(SPEC, output="pilot")
    sizes = plan_sizes("pilot", repeats=2)
    assert [(size.n, size.m) for size in sizes] == [(n, 2) for n in range(1, 5)]
    assert all(0 < size.p <= 1 and 0 <= size.power <= 1 for size in sizes)
    (weak,) = needed(sizes, target_p=1.0)
    assert weak.needed is not None and weak.needed.n == 1
    (strong,) = needed(sizes, target_p=1e-9)
    assert strong.needed is None
    assert strong.largest.n == 4


def test_sizes_are_deterministic_and_mistakes_are_named(project):
    harness.evaluate(SPEC, output="pilot")
    assert plan_sizes("pilot", repeats=2, candidates=[2]) == plan_sizes("pilot", repeats=2, candidates=[2])
    with pytest.raises(HarnessError, match="no testable metric 'lenght'; did you mean 'length'"):
        plan_sizes("pilot", metrics=["lenght"])
    with pytest.raises(HarnessError, match="at most 4 candidates and 2 references"):
        plan_sizes("pilot", candidates=[9])
