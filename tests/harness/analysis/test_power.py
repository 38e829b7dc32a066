"""Sizes needed, within a pilot run and beyond it."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

import harness
from harness.analysis.power import needed, study_power
from harness.analysis.power_sizes import plan_sizes
from harness.errors import HarnessError
from harness.registry import use_files
from harness.stats.combine import fisher

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 20},
    "models": ["echo"],
    "decoding": {"candidates": 4},
    "metrics": ["length"],
}

Texts = list[list[str]]

PARTS = '''
import json
from pathlib import Path
from harness.contracts import Example


class Rows:
    """Reader of the references in rows.json."""

    def fingerprint(self):
        return Path("rows.json").read_text()

    def __iter__(self):
        for i, row in enumerate(json.loads(Path("rows.json").read_text())["references"]):
            yield Example(str(i), tuple(row))


class Replay:
    """Adapter that returns the candidates in rows.json."""

    fingerprint = Rows.fingerprint

    def generate(self, examples, decoding, seeds):
        rows = json.loads(Path("rows.json").read_text())["candidates"]
        return [tuple(rows[int(example.id)]) for example in examples]
'''
REGISTRY = """
api: 1
provider: synthetic
readers: {rows: {import: "row_parts:Rows", summary: rows}}
adapters: {replay: {import: "row_parts:Replay", summary: rows}}
"""


def captions(examples: int, n: int, m: int, seed: int, effect: float = 0.8) -> tuple[Texts, Texts]:
    """Return candidates and references; the lengths of candidates are ``effect`` standard deviations smaller on average."""
    rng = np.random.default_rng(seed)
    means = rng.normal(15, 2, size=examples)

    def texts(size: int, shift: float) -> Texts:
        lengths = rng.normal((means - shift)[:, None], 3.0, size=(examples, size)).round().clip(1).astype(int)
        return [[" ".join(["a"] * length) for length in row] for row in lengths]

    return texts(n, 3.0 * effect), texts(m, 0.0)


@pytest.fixture
def pilot(project, monkeypatch) -> Callable[..., str]:
    """A function that runs ``length`` on synthetic captions and returns the run directory."""
    (project / "row_parts.py").write_text(PARTS)
    (project / "rows.yaml").write_text(REGISTRY)
    use_files([project / "rows.yaml"])
    monkeypatch.syspath_prepend(str(project))

    def run(examples: int, n: int, m: int, seed: int = 1, effect: float = 0.8) -> str:
        candidates, references = captions(examples, n, m, seed, effect)
        (project / "rows.json").write_text(json.dumps({"candidates": candidates, "references": references}))
        output = str(project / f"pilot-{examples}-{n}-{m}")
        spec = {"task": "rows", "dataset": {"reader": "rows"}, "models": ["replay"], "metrics": ["length"]}
        harness.evaluate(spec, output=output)
        return output

    return run


def p_values(examples: int, n: int, m: int, seed: int, effect: float = 0.8) -> np.ndarray:
    """Return the p-values (examples,) of fresh captions."""
    values = harness.metric("length", p_value="exact")(*captions(examples, n, m, seed, effect)).p_values
    assert values is not None
    return values


def test_more_candidates_never_need_a_larger_size_for_a_weaker_target(project):
    harness.evaluate(SPEC, output="pilot")
    sizes = plan_sizes("pilot", repeats=2)
    assert [(size.n, size.m) for size in sizes] == [(n, 2) for n in range(1, 5)]
    assert all(0 < size.p <= 1 and 0 <= size.power <= 1 and not size.extrapolated for size in sizes)
    (weak,) = needed(sizes, target_p=1.0)
    assert weak.needed is not None and weak.needed.n == 1
    (strong,) = needed(sizes, target_p=1e-9)
    assert strong.needed is None
    assert strong.largest.n == 4


def test_sizes_are_deterministic_and_mistakes_are_named(project):
    harness.evaluate(SPEC, output="pilot")
    options = {"repeats": 2, "candidates": [2, 9], "examples": [10, 50]}
    assert plan_sizes("pilot", **options) == plan_sizes("pilot", **options)
    with pytest.raises(HarnessError, match="no testable metric 'lenght'; did you mean 'length'"):
        plan_sizes("pilot", metrics=["lenght"])
    with pytest.raises(HarnessError, match="--examples has 0; expected 1 to 1,000,000"):
        plan_sizes("pilot", examples=[0])


def test_sizes_beyond_the_pilot_are_marked_and_have_intervals(pilot):
    sizes = plan_sizes(pilot(20, 4, 4), candidates=[4, 12], references=[4, 8], examples=[10, 20, 60])
    marks = {(size.n, size.m, size.examples): size.extrapolated for size in sizes}
    assert marks == {(n, m, e): (n, m) != (4, 4) or e > 20 for n in (4, 12) for m in (4, 8) for e in (10, 20, 60)}
    for size in sizes:
        # The geometric mean of equal values differs from them by rounding.
        assert size.p_low * (1 - 1e-12) <= size.p <= size.p_high * (1 + 1e-12)
        assert size.power_low - 1e-12 <= size.power <= size.power_high + 1e-12


def test_the_estimated_number_of_examples_reaches_the_target(pilot):
    (row,) = study_power(pilot(30, 4, 4), target_p=1e-8, combine=fisher, candidates=[4]).needed
    assert row.needed is None and row.largest.p > 1e-8
    (estimate,) = (item for item in row.estimates if item.axis == "examples")
    assert estimate.extrapolated and estimate.value and estimate.low and estimate.high
    assert 30 < estimate.value < 300
    assert estimate.low < estimate.value < estimate.high
    needs = []
    for seed in range(100, 120):  # fresh runs that grow example by example
        p = p_values(estimate.high, 4, 4, seed)
        needs.append(next((k for k in range(2, len(p)) if fisher(p[:k]) <= 1e-8), len(p) + 1))
    assert np.mean([estimate.low <= need <= estimate.high for need in needs]) >= 0.9
    assert fisher(p_values(estimate.high, 4, 4, 7)) <= 1e-8


@pytest.mark.parametrize("axis", ["candidates", "references"])
def test_the_estimated_number_of_captions_reaches_the_power(pilot, axis):
    (row,) = study_power(pilot(100, 5, 5, effect=1.0), power=0.5, candidates=[5]).needed
    assert row.needed is None
    assert [item.axis for item in row.estimates] == ["candidates", "references"]  # power does not depend on examples
    (estimate,) = (item for item in row.estimates if item.axis == axis)
    assert estimate.value and estimate.low and 5 <= estimate.low <= estimate.value < 40
    high = estimate.high or estimate.limit

    def power(size: int) -> float:
        n, m = (size, 5) if axis == "candidates" else (5, size)
        return float(np.mean(p_values(1000, n, m, 11, effect=1.0) <= 0.05))

    assert power(high) >= 0.5
    assert power(estimate.low - 1) < 0.5


def test_a_size_with_a_forbidding_floor_says_so(pilot):
    (row,) = study_power(pilot(20, 1, 5), power=0.5).needed
    assert row.notes[0] == (
        "no single example can have p <= 0.05 with 1 candidates and 5 references: the smallest p is 0.167 "
        "(2 candidates allow it)"
    )
    (row,) = study_power(pilot(20, 1, 4), target_p=0.1).needed
    assert row.notes[1] == "the combined p cannot be smaller than that with any number of examples"


def test_too_small_a_pilot_gives_no_fitted_sizes(pilot):
    run = pilot(20, 1, 2)
    (row,) = study_power(run, target_p=0.01).needed
    assert [item.axis for item in row.estimates] == ["examples"]
    assert (
        "gives p-values at 1 sizes; an estimate of other numbers of candidates and references needs 3" in row.notes[-1]
    )
    with pytest.raises(HarnessError, match="gives p-values at 1 sizes"):
        plan_sizes(run, candidates=[10])


def test_no_effect_needs_more_than_any_size_considered(pilot):
    (row,) = study_power(pilot(30, 4, 4, effect=0.0), target_p=1e-6, combine=fisher).needed
    assert all(item.high is None for item in row.estimates)


def test_a_pilot_that_reaches_the_target_needs_no_estimate(pilot):
    (row,) = study_power(pilot(20, 4, 4, effect=3.0), target_p=0.05, candidates=[1]).needed
    assert row.needed is not None and (row.needed.n, row.needed.examples) == (4, 20)
    assert row.estimates == ()
