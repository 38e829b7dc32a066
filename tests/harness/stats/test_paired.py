"""Paired comparison: exact against brute force, validity, invariances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats.paired import compare


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
@settings(max_examples=50, deadline=None)
def test_the_exact_test_equals_brute_force(d):
    a = np.array(d, dtype=float)
    flips = [abs(sum(s * x for s, x in zip(signs, d))) for signs in itertools.product((1, -1), repeat=len(d))]
    expected = np.mean([value >= abs(sum(d)) for value in flips])
    result = compare(a, np.zeros(len(d)), samples=0)
    assert result.p_value == pytest.approx(expected)
    assert (result.a_larger, result.b_larger) == (sum(x > 0 for x in d), sum(x < 0 for x in d))


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("copies", [1, 4])
def test_differences_that_cancel_have_p_one(copies, unit):
    differences = np.tile([0.1, 0.1, 0.1, -0.3, 0.7, -0.7], copies) * unit  # the sum is 0 or a rounding error
    assert compare(differences, np.zeros(6 * copies), samples=0, draws=500).p_value == 1.0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20), st.integers(-12, 12))
@settings(max_examples=50, deadline=None)
def test_p_values_do_not_depend_on_the_unit(d, exponent):
    a = np.array(d) / 7
    p = compare(a, np.zeros(len(d)), samples=0, draws=200).p_value
    assert compare(a * 10.0**exponent, np.zeros(len(d)), samples=0, draws=200).p_value == p


def test_swapping_the_systems_flips_the_sign_and_keeps_p():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.3, 1, 60), rng.normal(0, 1, 60)
    one, other = compare(a, b), compare(b, a)
    assert one.difference == -other.difference
    assert one.p_value == other.p_value
    assert one.ci95 is not None
    assert one.ci95[0] < one.difference < one.ci95[1]


def test_p_values_are_valid_under_the_null():
    rng = np.random.default_rng(1)
    p = np.array(
        [compare(rng.normal(size=30), rng.normal(size=30), draws=199, samples=0, seed=i).p_value for i in range(400)]
    )
    for level in (0.05, 0.2, 0.5):
        assert np.mean(p <= level) <= level + 3 * np.sqrt(level * (1 - level) / 400)


def test_undefined_pairs_are_left_out_and_no_pair_is_an_error():
    assert compare(np.array([1.0, np.nan, 2.0]), np.array([0.0, 1.0, np.nan])).n == 1
    with pytest.raises(ValueError, match="no example has a score from both"):
        compare(np.array([np.nan]), np.array([1.0]))
    with pytest.raises(ValueError, match="same length"):
        compare(np.zeros(2), np.zeros(3))
