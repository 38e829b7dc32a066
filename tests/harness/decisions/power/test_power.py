"""Sizes needed, within a pilot run and beyond it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest

import harness
from harness.decisions.power import power
from harness.decisions.power.power import PowerTarget, estimate, needed
from harness.decisions.power.rules import RULES, Composition
from harness.errors import HarnessError
from harness.registry import use_files
from harness.stats.combine import calibrated_p, harmonic_mean_p
from tests.support.power import plan_sizes

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 20},
    "models": ["echo"],
    "decoding": {"candidates": 4},
    "metrics": [{"length": {"level": "set"}}],
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
        rows = json.loads(Path("rows.json").read_text())
        for i, row in enumerate(rows["references"]):
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


def captions(
    examples: int, n: int, m: int, seed: int, effect: float = 0.8
) -> tuple[Texts, Texts]:
    """Return candidates and references; the lengths of candidates are ``effect``
    standard deviations smaller on average.
    """
    rng = np.random.default_rng(seed)
    means = rng.normal(15, 2, size=examples)

    def texts(size: int, shift: float) -> Texts:
        lengths = (
            rng.normal((means - shift)[:, None], 3.0, size=(examples, size))
            .round()
            .clip(1)
            .astype(int)
        )
        return [[" ".join(["a"] * length) for length in row] for row in lengths]

    return texts(n, 3.0 * effect), texts(m, 0.0)


@pytest.fixture
def pilot(project, monkeypatch) -> Iterator[Callable[..., str]]:
    """A function that runs ``length`` on synthetic captions and returns the run
    directory.
    """
    (project / "row_parts.py").write_text(PARTS)
    (project / "rows.yaml").write_text(REGISTRY)
    use_files([project / "rows.yaml"])
    monkeypatch.syspath_prepend(str(project))
    sys.modules.pop("row_parts", None)

    def run(
        examples: int,
        n: int,
        m: int,
        seed: int = 1,
        effect: float = 0.8,
        level: str = "set",
    ) -> str:
        candidates, references = captions(examples, n, m, seed, effect)
        (project / "rows.json").write_text(
            json.dumps({"candidates": candidates, "references": references})
        )
        output = str(project / f"pilot-{examples}-{n}-{m}-{seed}-{effect}-{level}")
        spec = {
            "task": "rows",
            "dataset": {"reader": "rows"},
            "models": ["replay"],
            "metrics": [{"length": {"level": level}}],
            "significance": {"method": "exact"},
        }
        harness.evaluate(spec, output=output)
        return output

    yield run
    sys.modules.pop("row_parts", None)


def p_values(
    examples: int, n: int, m: int, seed: int, effect: float = 0.8
) -> np.ndarray:
    """Return the p-values (examples,) of fresh captions."""
    values = harness.metric("length", p_value="exact")(
        *captions(examples, n, m, seed, effect)
    ).p_values
    assert values is not None
    return values


def test_more_candidates_never_need_a_larger_size_for_a_weaker_target(project):
    harness.evaluate(SPEC, output="pilot")
    sizes = plan_sizes("pilot", repeats=2, target_p=1.0)
    assert [(size.n, size.m) for size in sizes] == [(n, 2) for n in range(1, 5)]
    assert all(
        0 < size.p <= 1 and 0 <= size.power <= 1 and not size.extrapolated
        for size in sizes
    )
    (weak,) = needed(sizes, PowerTarget(p=1.0, power=1.0))
    assert weak.needed is not None and weak.needed.n == 1
    (strong,) = needed(sizes, PowerTarget(power=None, share=1.0))
    assert strong.needed is None
    assert strong.largest.n == 4


@pytest.mark.parametrize(
    ("name", "combine"),
    [("fisher-discrete", calibrated_p), ("harmonic-mean", harmonic_mean_p)],
)
def test_the_p_of_the_whole_pilot_is_that_of_the_run(pilot, name, combine):
    run = pilot(20, 4, 4)
    (size,) = plan_sizes(run, candidates=[4], combine=name)
    values = p_values(20, 4, 4, 1)
    expected = (
        calibrated_p(values, 1 / 70)
        if combine is calibrated_p
        else harmonic_mean_p(values)
    )
    assert size.p == pytest.approx(expected) and size.p_low == pytest.approx(
        size.p_high
    )
    (record,) = harness.Run.open(run).records
    assert size.p == pytest.approx(
        record.p["calibrated" if name == "fisher-discrete" else "harmonic_mean"]
    )


def test_the_seed_of_the_random_orders_is_0_by_default(pilot):
    run = pilot(20, 4, 4)
    default, zero, one = (
        plan_sizes(run, candidates=[2], references=[2], **seed)
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert default == zero != one


@pytest.mark.slow
def test_sizes_are_deterministic_and_mistakes_are_named(project):
    harness.evaluate(SPEC, output="pilot")
    options = {
        "repeats": 2,
        "candidates": [2, 9],
        "references": [2],
        "examples": [10, 50],
    }
    assert plan_sizes("pilot", **options) == plan_sizes("pilot", **options)
    with pytest.raises(
        HarnessError, match="no testable metric 'lenght'; did you mean 'length'"
    ):
        plan_sizes("pilot", metrics=["lenght"])
    with pytest.raises(HarnessError, match="examples has 0; expected 1 to 1,000,000"):
        plan_sizes("pilot", examples=[0])
    with pytest.raises(
        HarnessError,
        match="candidates has 21; expected at most 20, 5 times those of the pilot",
    ):
        plan_sizes("pilot", candidates=[21])


@pytest.mark.slow
def test_sizes_beyond_the_pilot_are_marked_and_have_intervals(pilot):
    sizes = plan_sizes(
        pilot(20, 4, 4), candidates=[4, 12], references=[4, 8], examples=[10, 20, 60]
    )
    marks = {(size.n, size.m, size.examples): size.extrapolated for size in sizes}
    assert marks == {
        (n, m, e): (n, m) != (4, 4) or e > 20
        for n in (4, 12)
        for m in (4, 8)
        for e in (10, 20, 60)
    }
    for size in sizes:
        # The geometric mean of equal values differs from them by rounding.
        assert size.p_low * (1 - 1e-12) <= size.p <= size.p_high * (1 + 1e-12)
        assert size.power_low <= size.power <= size.power_high
        assert size.share_low <= size.share <= size.share_high


def simulated_power(p: np.ndarray, floor: float, examples: int, level: float) -> float:
    """Return the share of 1000 runs of examples drawn from p (L,) whose calibrated p is
    at most the level.
    """
    rule = RULES["fisher-discrete"]
    scores = rule.scores(p, np.array(floor))
    critical = rule.critical(Composition.of(np.array([floor])), examples, level)
    return float(
        np.mean(
            np.random.default_rng(0).choice(scores, size=(1000, examples)).sum(axis=1)
            >= critical
        )
    )


def test_a_pilot_that_misses_the_target_needs_one_example_more_at_least():
    """The model of its trials may say that two examples are enough."""
    values = {
        "power": lambda n, m, examples: np.ones(4),
        "interval": lambda numbers: (numbers[0], numbers.min(), numbers.max()),
    }
    answer = estimate(
        SimpleNamespace(base=(4, 4), examples=20, **values), "examples", PowerTarget()
    )
    assert (answer.value, answer.low, answer.high, answer.limit) == (21, 20, 21, 2000)


@pytest.mark.slow
def test_the_estimated_number_of_examples_has_the_power(pilot):
    hits = []
    truth = p_values(1500, 3, 3, 999, effect=0.4)
    for seed in range(12):
        (row,) = power.study_pilot(
            pilot(20, 3, 3, seed, effect=0.4), power=0.8, candidates=[3], repeats=1
        ).needed
        if row.needed is None:
            (estimate,) = (item for item in row.estimates if item.axis == "examples")
            assert estimate.extrapolated and (
                estimate.value is None or estimate.value > 20
            )
            low = simulated_power(truth, 1 / 20, estimate.low or estimate.limit, 0.05)
            high = (
                1.0
                if estimate.high is None
                else simulated_power(truth, 1 / 20, estimate.high, 0.05)
            )
            # 4 standard errors of 1000 runs; an interval that starts at the pilot
            # covers what is below.
            hits.append(
                (low <= 0.8 + 0.05 or estimate.low == 20) and high >= 0.8 - 0.05
            )
    assert len(hits) >= 5
    # At a coverage of 0.95, three misses of twelve or fewer have a probability of 0.02.
    assert len(hits) - sum(hits) <= 2


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize("axis", ["candidates", "references"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_estimated_number_of_captions_has_the_share(pilot, axis, seed):
    (row,) = power.study_pilot(
        pilot(60, 4, 4, seed, effect=1.0), share=0.5, candidates=[4]
    ).needed
    if row.needed is not None:
        pytest.skip("the pilot reaches the share")
    # shares do not depend on examples
    assert [item.axis for item in row.estimates] == ["candidates", "references"]
    (estimate,) = (item for item in row.estimates if item.axis == axis)

    def share(size: int) -> float:
        n, m = (size, 4) if axis == "candidates" else (4, size)
        return float(np.mean(p_values(600, n, m, 11, effect=1.0) <= 0.05))

    # 4 standard errors of 600 examples.
    assert estimate.low is not None and (
        estimate.low == 4 or share(estimate.low - 1) <= 0.5 + 0.08
    )
    assert estimate.high is None or share(estimate.high) >= 0.5 - 0.08


def test_a_size_with_a_forbidding_floor_says_so(pilot):
    (row,) = power.study_pilot(pilot(20, 1, 5), share=0.5).needed
    assert row.notes[0] == (
        "no single example can have p <= 0.05 with 1 candidates and 5 references: "
        "the smallest p is 0.167 (2 candidates allow it)"
    )


def test_the_harmonic_mean_cannot_reach_a_level_below_the_floor(pilot):
    run = pilot(20, 1, 5, effect=3.0)
    (row,) = power.study_pilot(run, target_p=0.05, combine="harmonic-mean").needed
    assert row.needed is None and row.estimates[0].low is None
    (row,) = power.study_pilot(run, target_p=0.05).needed
    assert row.needed is not None


@pytest.mark.slow
def test_too_small_a_pilot_gives_no_fitted_sizes(pilot):
    run = pilot(20, 1, 2)
    (row,) = power.study_pilot(run, target_p=0.002).needed
    assert [item.axis for item in row.estimates] == ["examples"]
    assert [note.split(":")[0] for note in row.notes] == [
        "the pilot (1 candidates, 2 references) is too small for other numbers of "
        f"{axis}"
        for axis in ("candidates", "references")
    ]
    with pytest.raises(
        HarnessError,
        match="too small for other numbers of candidates: "
        "they are fitted and checked on",
    ):
        plan_sizes(run, candidates=[5])


@pytest.mark.slow
def test_candidates_are_refused_for_a_metric_that_scores_each_candidate_alone(
    pilot,
):
    run = pilot(20, 4, 4, level="item")
    reason = (
        "a metric that scores each candidate alone can lose power with more candidates"
    )
    with pytest.raises(HarnessError, match=f"length of model 'replay': {reason}"):
        plan_sizes(run, candidates=[5])
    assert all(
        size.extrapolated
        for size in plan_sizes(run, candidates=[3], references=[8], examples=[20, 60])
    )
    (row,) = power.study_pilot(run, target_p=1e-9).needed
    assert [item.axis for item in row.estimates] == ["examples", "references"]
    assert len(row.notes) == 1 and row.notes[0].startswith(reason)


def test_too_few_examples_give_no_sizes_beyond_the_pilot(pilot):
    run = pilot(9, 3, 3)
    (row,) = power.study_pilot(run, target_p=1e-9).needed
    assert row.estimates == () and row.notes == (
        "the pilot has 9 examples with p-values; sizes beyond it need at least 10",
    )
    with pytest.raises(
        HarnessError,
        match="the pilot has 9 examples with p-values; "
        "sizes beyond it need at least 10",
    ):
        plan_sizes(run, examples=[50])


@pytest.mark.slow
def test_no_effect_needs_more_than_any_size_considered(pilot):
    (row,) = power.study_pilot(pilot(30, 4, 4, effect=0.0), target_p=0.002).needed
    assert all(item.high is None for item in row.estimates)


def test_a_pilot_that_reaches_the_target_needs_no_estimate(pilot):
    (row,) = power.study_pilot(
        pilot(20, 4, 4, effect=3.0), target_p=0.05, candidates=[1]
    ).needed
    assert row.needed is not None and (row.needed.m, row.needed.examples) == (4, 20)
    assert row.estimates == ()


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        ([-0.5, 0.5], 15.0),
        ([-0.1, 0.3], 13.0),
        ([0.0, 1.0], 10.0),
        ([-1.0, 0.0], 20.0),
        ([-2.0, -1.0], math.inf),
    ],
)
def test_the_first_value_that_reaches_the_target_is_interpolated(margins, expected):
    assert power._first([10, 20], np.array(margins)) == expected
