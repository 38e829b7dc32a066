"""Predictions beyond a pilot from p-values alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr

from harness.decisions.power.fit import SizeTrials, smallest_p
from harness.decisions.power.model import SAMPLES, Extrapolation, steps
from harness.decisions.power.rules import RULES, Composition
from harness.stats.permutation_p_values import p_values, plan

SIZES = [(n, m) for n in (1, 2, 3, 4) for m in (1, 2, 3, 4) if n + m > 2]
RULE = RULES["fisher-discrete"]


def shift_trials(
    examples: int, n: int, m: int, effect: float, seed: int, repeats: int = 2
) -> SizeTrials:
    """Return exact p-values of the difference of means of normal samples."""
    rng = np.random.default_rng(seed)
    p = []
    for _ in range(repeats):
        values = rng.normal(size=(examples, n + m))
        values[:, :n] += effect
        design = plan(n, m)
        null = ((values @ labels.T) / n for labels in design.chunks(3000))
        p.append(p_values(values[:, :n].mean(axis=1), null, "upper", design.method))
    return SizeTrials(n, m, np.array(p), np.full(examples, smallest_p(n, m)))


def extrapolate(
    seed: int, examples: int = 60, effect: float = 0.5, level: float = 0.05
) -> Extrapolation:
    sizes = {
        size: shift_trials(examples, *size, effect=effect, seed=seed) for size in SIZES
    }
    return Extrapolation(sizes, (4, 4), RULE, 0.05, level, 0)


@pytest.fixture(scope="module")
def extrapolation() -> Extrapolation:
    return extrapolate(3, level=1e-4)


def at_least(hits: list[bool]) -> bool:
    """Return True unless so few hits have a probability below 1e-3 with a coverage of
    0.95.
    """
    return bool(bdtr(sum(hits), len(hits), 0.95) > 1e-3)


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    ("n", "m", "examples"), [(4, 4, 120), (4, 4, 300), (8, 4, 60), (4, 8, 60)]
)
def test_the_intervals_hold_for_most_pilots(n, m, examples):
    fresh = shift_trials(1500, n, m, 0.5, seed=999, repeats=1)
    share = float(np.mean(fresh.p <= 0.05))
    scores = RULE.scores(fresh.p, fresh.floors).ravel()
    runs = np.random.default_rng(0).choice(fresh.p.ravel(), size=(30, examples))
    hits: dict[str, list[bool]] = {"power": [], "share": [], "p": []}
    for seed in range(20):
        pilot = extrapolate(seed, effect=0.5, level=1e-4)
        critical = RULE.critical(Composition.of(fresh.floors), examples, 1e-4)
        drawn = (
            np.random.default_rng(seed)
            .choice(scores, size=(1000, examples))
            .sum(axis=1)
        )
        power = float(np.mean(drawn >= critical))
        # of the simulated power
        error = 3 * math.sqrt(power * (1 - power) / 1000) + 0.01
        value = pilot.predict(n, m, examples)
        hits["power"].append(
            value.power_low - error <= power <= value.power_high + error
        )
        hits["share"].append(value.share_low <= share <= value.share_high)
        p = RULE.combine(runs[seed % len(runs)], np.full(examples, smallest_p(n, m)))
        hits["p"].append(value.p_low <= p <= value.p_high)
    assert all(at_least(items) for items in hits.values()), {
        name: sum(items) for name, items in hits.items()
    }


def test_intervals_of_captions_widen_with_the_distance(extrapolation):
    widths = [
        np.ptp(np.quantile(extrapolation.shares(n, 4), [0.025, 0.975]))
        for n in (4, 8, 20)
    ]
    assert widths[0] < widths[1] < widths[2]


def test_intervals_are_those_of_t_for_few_examples():
    low, high = extrapolate(0, examples=10).levels
    assert low == pytest.approx(0.00856, abs=1e-5) and high == pytest.approx(1 - low)
    assert extrapolate(0, examples=200).levels[0] == pytest.approx(0.025, abs=1e-3)


def test_the_prediction_at_the_size_of_the_pilot_is_the_pilot(extrapolation):
    assert extrapolation.shares(4, 4)[0] == pytest.approx(
        np.mean(extrapolation.sizes[4, 4].p <= 0.05)
    )
    assert extrapolation.power(4, 4, 60).shape == (SAMPLES + 1,)
    assert extrapolation.power(4, 5, 60)[0] == pytest.approx(
        extrapolation.power(4, 4, 60)[0], abs=0.3
    )


def test_more_examples_have_more_power_a_smaller_p_and_the_same_share(extrapolation):
    few = extrapolation.predict(4, 4, 40)
    many = extrapolation.predict(4, 4, 400)
    assert many.p < few.p**5
    assert many.power > few.power
    assert many.share == few.share


def test_a_large_floor_leaves_no_share(extrapolation):
    assert extrapolation.predict(1, 10, 20).share == 0.0


def test_the_share_of_no_hits_has_an_interval(extrapolation):
    share, low, high = extrapolation.share_interval(1, 4)  # the smallest p is 0.2
    assert (share, low) == (0.0, 0.0) and high == pytest.approx(
        1.96**2 / (60 + 1.96**2)
    )


def test_undefined_examples_are_left_out():
    sizes = {size: shift_trials(30, *size, effect=0.8, seed=3) for size in SIZES}
    for size in sizes.values():
        size.p[:, :4] = np.nan
    extrapolation = Extrapolation(sizes, (4, 4), RULE, 0.05, 0.05, 0)
    assert extrapolation.examples == 26
    assert not np.isnan(extrapolation.power(8, 8, 100)).any()


@given(st.integers(1, 30), st.integers(30, 5000))
def test_steps_increase_from_low_to_high(low, high):
    values = steps(low, high)
    assert values[0] == low and values[-1] == high
    assert all(a < b for a, b in itertools.pairwise(values))


def test_an_interval_contains_the_value_of_the_pilot(extrapolation):
    resamples = np.linspace(0.4, 0.6, SAMPLES)
    low, high = (float(np.quantile(resamples, level)) for level in extrapolation.levels)
    inside = extrapolation.interval(np.append(0.5, resamples))
    assert inside == pytest.approx((0.5, low, high), abs=0.2 / SAMPLES)
    assert extrapolation.interval(np.append(0.9, resamples)) == pytest.approx(
        (0.9, low, 0.9), abs=0.2 / SAMPLES
    )
    assert extrapolation.interval(np.append(0.1, resamples)) == pytest.approx(
        (0.1, 0.1, high), abs=0.2 / SAMPLES
    )
