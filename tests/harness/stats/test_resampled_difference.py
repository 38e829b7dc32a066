"""Paired tests of a corpus statistic: oracles by enumeration, symmetry,
size under the null hypothesis, width.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import LeftOut
from harness.stats.draws import DrawFamily, resampled_sums
from harness.stats.resampled_difference import (
    PairSums,
    difference_of_parts,
    difference_of_statistics,
    difference_of_sums,
    first_draws,
    separable,
    weights_without_groups,
)


def compared(a, b, *, draws=1000, seed=0, reduce=None, repeats=True):
    return difference_of_statistics(
        reduce or ratio, a, b, DrawFamily(len(a), draws, seed), repeats=repeats
    )


def ratio(stats, weights):
    """A statistic that is no mean of per-example values."""
    sums = weights @ np.nan_to_num(stats)
    return sums[:, 0] / sums[:, 1]


def rows(rng, n, shift=0.0):
    return np.column_stack([rng.poisson(3, n) + shift, rng.poisson(9, n) + 1.0])


def test_the_difference_is_that_of_the_reported_numbers():
    rng = np.random.default_rng(0)
    a = rows(rng, 40)
    b = rows(rng, 40)
    result = compared(a, b)
    assert result.a == pytest.approx(a[:, 0].sum() / a[:, 1].sum(), rel=1e-15)
    assert result.difference == result.a - result.b
    assert result.ci95 is not None
    assert result.ci95[0] < result.difference < result.ci95[1]


def test_randomisation_agrees_with_the_enumeration_of_all_swaps():
    rng = np.random.default_rng(1)
    a = rows(rng, 9, 1.0)
    b = rows(rng, 9)
    both = np.concatenate([a, b])
    observed = abs(compared(a, b, draws=1).difference)
    extreme = 0
    for pattern in itertools.product([0.0, 1.0], repeat=9):
        keep = np.array([pattern])
        weights = np.concatenate(
            [np.hstack([keep, 1 - keep]), np.hstack([1 - keep, keep])]
        )
        one, other = ratio(both, weights)
        extreme += abs(one - other) >= observed - 1e-12
    exact = extreme / 2**9
    sampled = compared(a, b, draws=511)
    assert not sampled.exact
    assert sampled.p_randomisation == pytest.approx(
        exact, abs=4 * np.sqrt(exact * (1 - exact) / 511) + 2e-3
    )
    enumerated = compared(a, b, draws=512)
    assert enumerated.exact
    assert enumerated.p_randomisation == pytest.approx(exact, rel=1e-12)


@pytest.mark.equal_bits
@given(st.integers(0, 2**31))
def test_swapping_the_systems_changes_the_sign_alone(seed):
    rng = np.random.default_rng(seed)
    a = rows(rng, 12)
    b = rows(rng, 12)
    one = compared(a, b, draws=64)
    other = compared(b, a, draws=64)
    assert other.difference == -one.difference
    assert other.p_randomisation == one.p_randomisation
    assert other.p_bootstrap == one.p_bootstrap


@pytest.mark.equal_bits
def test_equal_systems_have_p_one():
    a = rows(np.random.default_rng(2), 30)
    result = compared(a, a.copy())
    assert (result.difference, result.p_bootstrap, result.p_randomisation) == (
        0.0,
        1.0,
        1.0,
    )


@pytest.mark.slow
def test_both_tests_hold_their_size_under_the_null_hypothesis():
    rng = np.random.default_rng(3)
    rejected = np.zeros(2)
    for _ in range(400):
        common = rng.poisson(2, (60, 1))
        a, b = (rows(rng, 60) + common for _ in range(2))
        result = compared(a, b, draws=199)
        rejected += [result.p_bootstrap <= 0.05, result.p_randomisation <= 0.05]
    assert np.all(rejected / 400 < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400))
    assert np.all(rejected / 400 > 0.01)


def test_rows_of_different_width_are_padded():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    b = np.array([[1.0, 2.0, 5.0], [0.0, 2.0, 5.0]])
    result = compared(a, b, draws=4)
    assert (
        result.exact
        and result.draws == 4
        and result.difference == pytest.approx(4 / 6 - 1 / 4)
    )


def test_an_undefined_value_has_no_p():
    a = np.array([[1.0, 0.0], [2.0, 0.0]])
    with np.errstate(all="ignore"):
        result = compared(
            a, a + 1.0, reduce=lambda s, w: np.where((w @ s)[:, 1] == 0, np.nan, 1.0)
        )
    assert np.isnan(result.p_randomisation) and result.ci95 is None


def test_rows_of_different_number_are_refused():
    with pytest.raises(ValueError, match="have 2 rows; found 2 and 3"):
        compared(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="have 3 rows; found 3 and 2"):
        compared(np.ones((3, 2)), np.ones((2, 2)))


@pytest.mark.equal_bits
def test_products_of_each_system_give_the_same_as_reductions_of_the_pair():
    rng = np.random.default_rng(5)
    a = rows(rng, 50)
    b = rows(rng, 50, 0.3)
    family = DrawFamily(50, 400, 2)

    def sums(x):
        return PairSums(
            x.sum(axis=0),
            resampled_sums(family, "resamples", x),
            resampled_sums(family, "assignments", x),
            x,
        )

    product = difference_of_sums(
        lambda s: s[..., 0] / s[..., 1], sums(a), sums(b), exact=family.exact
    )
    reduced = compared(a, b, draws=400, seed=2)
    # The reduction of the pair is a matrix product, whose last digits depend on the
    # processor: close, but the p-values are equal, since differences that are equal up
    # to rounding count as ties.
    close = partial(pytest.approx, rel=1e-12)
    assert (product.a, product.b, product.difference) == close(
        (reduced.a, reduced.b, reduced.difference)
    )
    assert product.ci95 == close(reduced.ci95)
    assert (product.p_randomisation, product.p_bootstrap) == (
        reduced.p_randomisation,
        reduced.p_bootstrap,
    )
    assert (product.draws, product.exact) == (reduced.draws, reduced.exact)


def test_without_repetition_there_is_randomisation_alone():
    a = rows(np.random.default_rng(6), 30)
    b = rows(np.random.default_rng(7), 30)
    result = compared(a, b, repeats=False)
    whole = compared(a, b)
    assert np.isnan(result.p_bootstrap)
    # the jackknife of a smooth statistic
    assert result.ci95 == pytest.approx(whole.ci95, rel=0.25)
    assert result.ci95[0] < result.difference < result.ci95[1]
    assert result.p_randomisation == compared(a, b).p_randomisation


def test_a_statistic_of_all_rows_is_not_separable():
    a = rows(np.random.default_rng(8), 10)
    b = rows(np.random.default_rng(9), 10)
    values = tuple(ratio(x, np.ones((1, 10))).item() for x in (a, b))
    assert separable(ratio, a, b, values)
    assert not separable(
        lambda s, w: ratio(s, w) * len(s), a, b, (10 * values[0], 10 * values[1])
    )


def test_a_seed_has_the_groups_of_earlier_versions():
    """Stored intervals of the jackknife depend on which examples are left out
    together.
    """
    left_out = weights_without_groups(103, 7) == 0
    assert left_out.sum(axis=0).tolist() == [1] * 103
    assert [np.flatnonzero(row).tolist() for row in left_out if row.sum() > 1] == [
        [4, 55],
        [8, 28],
        [1, 59],
    ]


def test_a_family_of_fewer_draws_keeps_an_enumeration():
    assert first_draws(DrawFamily(5, 100, 0), 10).n_assignments == 32
    assert first_draws(DrawFamily(50, 100, 0), 10).n_assignments == 10


def test_values_that_differ_by_rounding_are_equal():
    a = np.column_stack([[0.1, 0.2, 0.3] * 10, np.ones(30)])
    b = a[::-1].copy()
    result = compared(a, b)
    assert result.difference == 0.0
    assert result.p_randomisation == 1.0


def test_a_statistic_of_small_numbers_is_separable_where_it_agrees_to_nine_digits():
    a = np.array([[1e-6], [3e-6]])
    b = np.array([[2e-6], [5e-6]])

    def mean(stats, weights):
        return (weights @ stats)[:, 0] / weights.sum(axis=1)

    def ranked(stats, weights):
        return mean(stats, weights) * len(stats)

    expected = (2e-6, 3.5e-6)
    assert separable(mean, a, b, expected)
    assert not separable(ranked, a, b, expected)


def test_the_difference_over_parts_of_two_means_is_the_paired_t_test():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, 30)) + rng.normal(size=30)
    d = x - y
    result = difference_of_parts(
        x.mean(), y.mean(), LeftOut((d.sum() - d) / 29, 1 / 30, 29)
    )
    theirs = ttest_rel(x, y)
    interval = theirs.confidence_interval()
    assert (
        result.p_value == result.p_jackknife == pytest.approx(theirs.pvalue, rel=1e-9)
    )
    assert result.ci95 == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert (
        np.isnan(result.p_randomisation)
        and np.isnan(result.p_bootstrap)
        and (result.draws, result.exact) == (0, False)
    )


def test_the_difference_over_parts_of_equal_or_undefined_numbers():
    same = difference_of_parts(0.3, 0.3 * (1 + 1e-16), LeftOut(np.zeros(2), 0.5, 1))
    assert (same.difference, same.ci95, same.p_value) == (0.0, None, 1.0)
    assert np.isnan(
        difference_of_parts(np.nan, 1.0, LeftOut(np.zeros(2), 0.5, 1)).p_value
    )
    one = difference_of_parts(1.0, 2.0, LeftOut(np.empty(0), 0.5, 1))
    assert one.ci95 is None and np.isnan(one.p_value) and one.difference == -1.0


def test_one_row_has_no_interval():
    result = compared(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]]))
    assert (result.difference, result.ci95) == (0.25, None) and np.isnan(
        result.p_bootstrap
    )
