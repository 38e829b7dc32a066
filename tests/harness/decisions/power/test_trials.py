"""Captions of a pilot in random order, and their p-values by size."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.decisions.power.fit import smallest_p
from harness.decisions.power.rules import RULES
from harness.decisions.power.trials import (
    PilotTrials,
    TrialOptions,
    shuffle_sets,
    spread,
)
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans

SETS = [
    CaptionSet(
        "a",
        ("one", "one two", "one two three"),
        ("one", "one two", "one two three four"),
    ),
    CaptionSet("b", ("one", "one two"), ("one", "one two three", "one two three four")),
]


@pytest.fixture
def plan(project) -> MetricPlan:
    (plan,) = caption_plans(metric_plans(["length"]))
    return plan


@pytest.fixture
def steps() -> list[int]:
    return []


@pytest.fixture
def trials(steps) -> PilotTrials:
    return PilotTrials(
        "echo",
        SETS,
        TrialOptions(2, 0.05, 0.05, 0, RULES["harmonic-mean"], steps.append),
    )


def test_shuffled_sets_hold_the_same_captions():
    for before, after in zip(SETS, shuffle_sets(SETS, 5)):
        assert sorted(before.candidates) == sorted(after.candidates)
        assert sorted(before.references) == sorted(after.references)
    assert shuffle_sets(SETS, 5) == shuffle_sets(SETS, 5)


@pytest.mark.parametrize(
    ("most", "expected"),
    [(1, [1]), (2, [1, 2]), (5, [1, 2, 3, 5]), (100, [1, 3, 10, 32, 100])],
)
def test_spread(most, expected):
    assert spread(most) == expected


def test_measured_sizes_have_p_values_and_the_floors_of_their_examples(
    trials, plan, steps
):
    trials.measure([plan], [(3, 3), (1, 2)])
    size = trials.trials(plan.label)[3, 3]
    assert size.p.shape == (2, 2)
    assert (size.p >= size.floors).all()
    # example b has two candidates
    assert size.floors.tolist() == [smallest_p(3, 3), smallest_p(2, 3)]
    assert (size.n, size.m) == (2.5, 3.0)
    assert steps == [1] * 4


def test_a_size_is_measured_once(trials, plan, steps):
    trials.measure([plan], [(2, 2)])
    before = trials.trials(plan.label)[2, 2]
    trials.measure([plan], [(2, 2)])
    assert trials.trials(plan.label)[2, 2] is before
    assert len(steps) == 2


def test_the_size_of_the_pilot_and_its_fit_sizes(trials):
    assert (trials.n, trials.m) == (3, 3)
    assert trials.contains(3, 1) and not trials.contains(4, 1)
    assert (1, 1) not in trials.fit_sizes() and (3, 3) in trials.fit_sizes()


def test_an_extrapolation_needs_p_values_at_the_size_of_the_pilot(trials, plan):
    assert trials.extrapolation(plan.label) is None
    trials.measure([plan], [(3, 3)])
    extrapolation = trials.extrapolation(plan.label)
    assert extrapolation is not None and extrapolation.examples == 2
    assert not extrapolation.can_fit("candidates")
    assert not np.isnan(extrapolation.power(3, 3, 5)).any()


@pytest.mark.parametrize(
    "metric",
    [
        {"mmd": {"embedding": "bow"}},
        {"trm": {"distance": "rouge"}},
        {"precision-example": {"distance": "rouge"}},
    ],
)
def test_sizes_of_candidates_and_references_are_never_compared(metric):
    """Every relabelling has the sizes of the sets themselves: texts of one distribution
    are told apart at the level, whatever the sizes.
    """
    rng = np.random.default_rng(0)
    words = np.array(
        ["a", "the", "red", "blue", "dog", "cat", "runs", "sleeps", "on", "sofa"]
    )
    texts = [[" ".join(rng.choice(words, 4)) for _ in range(9)] for _ in range(200)]
    sets = [
        CaptionSet(str(k), tuple(row[:2]), tuple(row[2:]))
        for k, row in enumerate(texts)
    ]
    (plan,) = caption_plans(metric_plans([metric]))
    assert "candidates" in plan.metric.spec.depends_on
    trials = PilotTrials(
        "people",
        sets,
        TrialOptions(1, 0.05, 0.05, 0, RULES["fisher-discrete"], lambda steps: None),
    )
    trials.measure([plan], [(2, 7), (1, 7)])
    for size in trials.trials(plan.label).values():
        for alpha in (1 / 6, 1 / 3):
            share = (size.p[0] <= alpha).mean()
            assert share <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / len(sets)), (
                metric,
                alpha,
            )
