"""Predictions beyond a pilot from p-values alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.power_model import (
    Extrapolation,
    SizeTrials,
    first_reached,
    p_of_z,
    smallest_p,
    steps,
    terms,
    z_scores,
)
from harness.stats import permutation
from harness.stats.combine import fisher

SIZES = [(n, m) for n in (1, 2, 3, 5) for m in (2, 3, 5)]


def shift_trials(examples: int, n: int, m: int, effect: float, seed: int, repeats: int = 2) -> SizeTrials:
    """Return exact p-values of the difference of means of normal samples."""
    rng = np.random.default_rng(seed)
    p = []
    for _ in range(repeats):
        values = rng.normal(size=(examples, n + m))
        values[:, :n] += effect
        design = permutation.plan(n, m)
        null = ((values @ labels.T) / n for labels in design.chunks(3000))
        p.append(permutation.p_values(values[:, :n].mean(axis=1), null, "upper", design.method))
    return SizeTrials(n, m, np.array(p), np.full(examples, smallest_p(n, m)))


@pytest.fixture(scope="module")
def extrapolation() -> Extrapolation:
    sizes = {size: shift_trials(80, *size, effect=0.8, seed=3) for size in SIZES}
    return Extrapolation(sizes, (5, 5), fisher, 0.05, 0)


@given(st.integers(1, 8), st.integers(1, 8), st.data())
def test_z_scores_and_p_values_are_inverse(n, m, data):
    floor = smallest_p(n, m)
    p = data.draw(st.integers(1, round(1 / floor))) * floor
    assert p_of_z(z_scores(np.array(p), np.array(floor)), floor) == pytest.approx(p)


@given(st.floats(-9, 9), st.integers(1, 8), st.integers(1, 8))
def test_p_values_of_z_scores_respect_the_floor(z, n, m):
    floor = smallest_p(n, m)
    assert floor <= p_of_z(np.array(z), floor) <= 1


def test_terms_are_those_of_the_formula():
    h = 4 * 6 / 10
    assert terms(4, 6) == pytest.approx([h**0.5, h**0.5 * -0.2, 0.1])


@pytest.mark.parametrize(("n", "m"), [(9, 5), (5, 9), (7, 7)])
def test_the_interval_of_the_power_contains_the_power_of_a_run(extrapolation, n, m):
    truth = float(np.mean(shift_trials(600, n, m, 0.8, seed=9, repeats=1).p <= 0.05))
    prediction = extrapolation.predict(n, m, 80)
    assert prediction.power_low <= truth <= prediction.power_high
    assert prediction.power == pytest.approx(truth, abs=0.12)
    assert prediction.p_low <= fisher(shift_trials(80, n, m, 0.8, seed=10, repeats=1).p) <= prediction.p_high


def test_the_prediction_is_continuous_at_the_size_of_the_pilot(extrapolation):
    pilot = float(np.mean(extrapolation.sizes[5, 5].p <= 0.05))
    assert extrapolation.predict(5, 5, 80).power == pytest.approx(pilot, abs=0.02)
    assert extrapolation.predict(5, 6, 80).power == pytest.approx(pilot, abs=0.1)


def test_more_examples_have_a_smaller_fisher_p_and_the_same_power(extrapolation):
    few, many = extrapolation.predict(5, 5, 40), extrapolation.predict(5, 5, 400)
    assert many.p < few.p**5
    assert many.power == few.power


def test_a_smaller_run_is_a_prefix_of_a_larger_one(extrapolation):
    assert extrapolation.draw(3, 5, 5, 10).tolist() == extrapolation.draw(3, 5, 5, 50)[:10].tolist()


def test_a_large_floor_leaves_no_power(extrapolation):
    assert extrapolation.predict(1, 10, 20).power == 0.0


def test_undefined_examples_are_left_out():
    sizes = {size: shift_trials(30, *size, effect=0.8, seed=3) for size in SIZES}
    for size in sizes.values():
        size.p[:, :4] = np.nan
    extrapolation = Extrapolation(sizes, (5, 5), fisher, 0.05, 0)
    assert extrapolation.examples == 26
    assert not np.isnan(extrapolation.draw(0, 9, 9, 100)).any()


@given(st.integers(1, 30), st.integers(30, 5000))
def test_steps_increase_from_low_to_high(low, high):
    values = steps(low, high)
    assert values[0] == low and values[-1] == high
    assert all(a < b for a, b in itertools.pairwise(values))


@given(st.integers(1, 60), st.booleans())
def test_the_first_value_that_is_reached(threshold, monotone):
    values = list(range(1, 51))
    expected = threshold if threshold <= 50 else np.inf
    assert first_reached(values, lambda value: value >= threshold, monotone=monotone) == expected
