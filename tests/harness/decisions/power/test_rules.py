"""Rejection rules: scores and critical values agree with the combined p-values; power
agrees with simulated runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.decisions.power.rules import RULES, Composition, ScoreMoments, ranks_of
from harness.stats.combine import calibrated_p, harmonic_mean_p

FLOORS = np.array([1 / 6, 1 / 70, 1 / 70, 1 / 252])


def pool_p(size: int, floor: float, exponent: float, seed: int) -> np.ndarray:
    """Return p-values (size,) on the grid of ``floor``;
    an exponent above 1 makes them small.
    """
    rng = np.random.default_rng(seed)
    return np.ceil(rng.random(size) ** exponent / floor).clip(1) * floor


def sums(p: np.ndarray, floor: float, name: str) -> np.ndarray:
    x = RULES[name].scores(p, np.array(floor))
    return np.array([[len(x), x.sum(), (x**2).sum(), (x**3).sum()]])


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=5), st.integers(1, 1000))
def test_counts_of_a_composition_sum_to_the_examples(weights, examples):
    shares = np.array(weights) / sum(weights)
    counts = Composition(
        tuple(range(2, 2 + len(weights))), tuple(shares.tolist())
    ).counts(examples)
    assert sum(counts) == examples
    assert np.abs(np.array(counts) - shares * examples).max() <= 1


def test_the_composition_of_examples():
    composition = Composition.of(FLOORS)
    assert composition == Composition((6, 70, 252), (0.25, 0.5, 0.25))
    assert composition.counts(8) == (2, 4, 2)
    assert ranks_of(FLOORS).tolist() == [6, 70, 70, 252]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.05, 1e-6])
@pytest.mark.parametrize(
    ("name", "combine"),
    [("fisher-discrete", calibrated_p), ("harmonic-mean", harmonic_mean_p)],
)
def test_a_run_is_rejected_when_its_combined_p_is_at_most_the_level(
    name, combine, level
):
    rule = RULES[name]
    floors = np.tile(FLOORS, 10)
    critical = rule.critical(Composition.of(floors), len(floors), level)
    decided = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p = np.ceil(rng.random(len(floors)) ** rng.uniform(1, 4) / floors) * floors
        expected = combine(p, floors) if name == "fisher-discrete" else combine(p)
        assert rule.combine(p, floors) == pytest.approx(expected)
        total = rule.scores(p, floors).sum()
        # Scores of the discrete null lie on a grid: p-values next to the level can fall
        # on either side.
        assert rule.p_of_sum(
            Composition.of(floors), len(floors), total
        ) == pytest.approx(expected, rel=0.02)
        if abs(np.log(expected / level)) > 0.02:
            decided.append((expected <= level) == (total >= critical))
    assert len(decided) > 20
    assert all(decided)


def test_a_level_below_the_smallest_combined_p_is_not_reached():
    assert (
        RULES["fisher-discrete"].critical(Composition((6,), (1.0,)), 2, 0.01) == np.inf
    )
    assert (
        RULES["fisher-discrete"].critical(Composition((6,), (1.0,)), 3, 0.01) < np.inf
    )


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("exponent", "examples"), [(1.0, 30), (1.3, 20), (1.5, 60), (2.0, 30), (1.1, 400)]
)
def test_power_is_the_share_of_simulated_runs_that_are_rejected(
    name, exponent, examples
):
    rule = RULES[name]
    floor = 1 / 70
    for seed in range(3):
        p = pool_p(300, floor, exponent, seed)
        critical = rule.critical(Composition((70,), (1.0,)), examples, 0.05)
        power = ScoreMoments.of_sums(sums(p, floor, name)).tail(critical, examples)[0]
        scores = rule.scores(p, np.array(floor))
        drawn = (
            np.random.default_rng(seed)
            .choice(scores, size=(4000, examples))
            .sum(axis=1)
        )
        share = float(np.mean(drawn >= critical))
        # 4 standard errors of the simulation, and 0.015 for the approximation by three
        # moments.
        assert power == pytest.approx(
            share, abs=4 * np.sqrt(max(share * (1 - share), 1e-3) / 4000) + 0.015
        )


@pytest.mark.parametrize("examples", [10, 100, 5000])
def test_power_without_an_effect_is_the_level(examples):
    p = np.arange(1, 71) / 70
    moments = ScoreMoments.of_sums(sums(p, 1 / 70, "fisher-discrete"))
    critical = RULES["fisher-discrete"].critical(
        Composition((70,), (1.0,)), examples, 0.05
    )
    assert moments.mean[0] == pytest.approx(0.0, abs=1e-12)
    assert moments.tail(critical, examples)[0] == pytest.approx(0.05, abs=0.004)


def test_drawn_sums_have_the_moments_of_the_pool():
    moments = ScoreMoments.of_sums(
        np.repeat(
            sums(pool_p(300, 1 / 70, 1.5, 0), 1 / 70, "fisher-discrete"), 20000, axis=0
        )
    )
    drawn = moments.draw(40, np.random.default_rng(0))
    deviation = moments.deviation[0] * np.sqrt(40)
    assert drawn.mean() == pytest.approx(
        40 * moments.mean[0], abs=4 * deviation / np.sqrt(20000)
    )
    assert drawn.std() == pytest.approx(deviation, rel=0.03)


def test_a_pool_of_equal_scores_is_decided_by_its_sum():
    moments = ScoreMoments.of_sums(np.array([[3.0, 6.0, 12.0, 24.0]]))
    assert moments.deviation[0] == 0.0
    assert (moments.tail(19.0, 10)[0], moments.tail(21.0, 10)[0]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("relabelings", "shares", "examples", "level", "critical"),
    [
        ((70,), (1.0,), 30, 0.05, 8.502957471798226),
        ((6, 70, 252), (0.25, 0.5, 0.25), 40, 1e-6, 29.959611674321604),
        ((6,), (1.0,), 12, 0.2, 1.7920329284431629),
        ((20, 924), (0.5, 0.5), 200, 0.01, 30.463972439763083),
        ((252,), (1.0,), 1000, 0.3, 15.736771883412079),
    ],
)
def test_critical_values_do_not_move(relabelings, shares, examples, level, critical):
    value = RULES["fisher-discrete"].critical(
        Composition(relabelings, shares), examples, level
    )
    assert value == pytest.approx(critical, rel=1e-12)


def test_moments_are_those_of_the_scores():
    from scipy.stats import skew

    x = np.random.default_rng(0).exponential(size=50) + 0.7
    moments = ScoreMoments.of_sums(
        np.array([[len(x), x.sum(), (x**2).sum(), (x**3).sum()]])
    )
    assert moments.mean[0] == pytest.approx(x.mean())
    assert moments.deviation[0] == pytest.approx(x.std())
    assert moments.skewness[0] == pytest.approx(skew(x))
