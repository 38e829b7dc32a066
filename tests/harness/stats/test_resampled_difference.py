"""Paired tests of a corpus statistic: oracles by enumeration, symmetry, size under the null hypothesis, width."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.resampled_difference import compare_statistics


def ratio(stats, weights):
    """A statistic that is no mean of per-example values."""
    sums = weights @ np.nan_to_num(stats)
    return sums[:, 0] / sums[:, 1]


def rows(rng, n, shift=0.0):
    return np.column_stack([rng.poisson(3, n) + shift, rng.poisson(9, n) + 1.0])


def test_the_difference_is_that_of_the_reported_numbers():
    rng = np.random.default_rng(0)
    a, b = rows(rng, 40), rows(rng, 40)
    result = compare_statistics(ratio, a, b)
    assert result.a == pytest.approx(a[:, 0].sum() / a[:, 1].sum(), rel=1e-15)
    assert result.difference == result.a - result.b
    assert result.ci95 is not None
    assert result.ci95[0] < result.difference < result.ci95[1]


def test_randomisation_agrees_with_the_enumeration_of_all_swaps():
    rng = np.random.default_rng(1)
    a, b = rows(rng, 9, 1.0), rows(rng, 9)
    both = np.concatenate([a, b])
    observed = abs(compare_statistics(ratio, a, b, samples=0, draws=1).difference)
    extreme = 0
    for pattern in itertools.product([0.0, 1.0], repeat=9):
        keep = np.array([pattern])
        weights = np.concatenate([np.hstack([keep, 1 - keep]), np.hstack([1 - keep, keep])])
        one, other = ratio(both, weights)
        extreme += abs(one - other) >= observed - 1e-12
    exact = extreme / 2**9
    sampled = compare_statistics(ratio, a, b, samples=0, draws=20_000).p_randomisation
    assert sampled == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@given(st.integers(0, 2**31))
def test_swapping_the_systems_changes_the_sign_alone(seed):
    rng = np.random.default_rng(seed)
    a, b = rows(rng, 12), rows(rng, 12)
    one = compare_statistics(ratio, a, b, samples=64, draws=64)
    other = compare_statistics(ratio, b, a, samples=64, draws=64)
    assert other.difference == -one.difference
    assert other.p_randomisation == one.p_randomisation
    assert other.p_bootstrap == one.p_bootstrap


def test_equal_systems_have_p_one():
    a = rows(np.random.default_rng(2), 30)
    result = compare_statistics(ratio, a, a.copy())
    assert (result.difference, result.p_bootstrap, result.p_randomisation) == (0.0, 1.0, 1.0)


def test_both_tests_hold_their_size_under_the_null_hypothesis():
    rng = np.random.default_rng(3)
    rejected = np.zeros(2)
    for _ in range(400):
        common = rng.poisson(2, (60, 1))
        a, b = (rows(rng, 60) + common for _ in range(2))
        result = compare_statistics(ratio, a, b, samples=199, draws=199)
        rejected += [result.p_bootstrap <= 0.05, result.p_randomisation <= 0.05]
    assert np.all(rejected / 400 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400))
    assert np.all(rejected / 400 > 0.01)


def test_rows_of_different_width_are_padded():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0, 5.0], [0.0, 2.0, 5.0]])
    assert compare_statistics(ratio, a, b, draws=4).n == 2


def test_an_undefined_value_has_no_p():
    a = np.array([[1.0, 0.0], [2.0, 0.0]])
    with np.errstate(all="ignore"):
        result = compare_statistics(lambda s, w: np.where((w @ s)[:, 1] == 0, np.nan, 1.0), a, a + 1.0)
    assert np.isnan(result.p_randomisation) and result.ci95 is None


def test_rows_of_different_number_are_refused():
    with pytest.raises(ValueError, match="same number of rows"):
        compare_statistics(ratio, np.ones((2, 2)), np.ones((3, 2)))
