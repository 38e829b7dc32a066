"""Jackknife intervals against the closed form of the mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from harness.contracts import LeftOut
from harness.stats import jackknife


def test_the_interval_of_a_mean_is_students():
    x = np.random.default_rng(0).normal(size=30)
    without = (x.sum() - x) / 29
    half = t.ppf(0.975, 29) * x.std(ddof=1) / np.sqrt(30)
    assert jackknife.interval(x.mean(), without) == pytest.approx(
        (x.mean() - half, x.mean() + half)
    )


@pytest.mark.parametrize(
    "without", [[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [1.0, np.inf]]
)
def test_numbers_that_do_not_differ_or_are_undefined_have_no_interval(without):
    assert jackknife.interval(1.0, np.array(without)) is None


def squared_mean(x):
    """Return the square of the mean of x without one value, (n,), and without two,
    (n, n).
    """
    n = len(x)
    return ((x.sum() - x) / (n - 1)) ** 2, (
        (x.sum() - x[:, None] - x[None]) / (n - 2)
    ) ** 2


def test_pairs_correct_the_variance_of_a_quadratic_statistic():
    rng = np.random.default_rng(1)
    samples = rng.normal(0.25, 1, size=(4000, 30))
    variance = np.var(samples.mean(axis=1) ** 2)
    estimates = []
    for corrected in (False, True):
        halves = [
            half_width(x.mean() ** 2, one, two if corrected else None)
            for x in samples[:2000]
            for one, two in [squared_mean(x)]
        ]
        estimates.append(np.mean(np.square(halves)) / t.ppf(0.975, 29) ** 2 / variance)
    assert estimates[0] > 1.1
    assert estimates[1] == pytest.approx(1, abs=0.06)


def half_width(value, without, pairs):
    low, high = jackknife.interval(value, without, pairs=pairs)
    return (high - low) / 2


def test_pairs_change_nothing_for_a_mean_or_when_they_are_undefined():
    x = np.random.default_rng(2).normal(size=9)
    one = (x.sum() - x) / 8
    two = (x.sum() - x[:, None] - x[None]) / 7
    plain = jackknife.interval(x.mean(), one)
    assert jackknife.interval(x.mean(), one, pairs=two) == pytest.approx(plain)
    assert jackknife.interval(x.mean(), one, pairs=np.full((9, 9), np.nan)) == plain
    for pair in (np.nan, 5.0):  # of two examples nothing is left without both
        assert half_width(
            0.5, np.array([0.0, 1.0]), np.full((2, 2), pair)
        ) == half_width(0.5, np.array([0.0, 1.0]), None)


def test_the_correction_takes_at_most_half_of_the_variance():
    x = np.random.default_rng(3).normal(size=8)
    one = squared_mean(x)[0]
    far = 100 * np.add.outer(np.arange(8.0) ** 2, np.arange(8.0) ** 3)
    half = half_width(0.0, one, far)
    assert half == pytest.approx(half_width(0.0, one, None) * np.sqrt(0.5), rel=1e-12)


def of_examples(x):
    """Return the mean of x without each value."""
    return LeftOut((x.sum() - x) / (len(x) - 1), 1 / len(x), len(x) - 1)


def test_the_p_value_of_a_mean_is_that_of_the_t_test_and_agrees_with_the_interval():
    from scipy.stats import ttest_1samp

    rng = np.random.default_rng(4)
    for shift in (0.0, 0.2, 0.5):
        x = rng.normal(shift, 1, size=25)
        p = jackknife.p_value_of_parts(x.mean(), of_examples(x))
        assert p == pytest.approx(ttest_1samp(x, 0).pvalue, rel=1e-9)
        low, high = jackknife.interval_of_parts(x.mean(), of_examples(x))
        assert (low, high) == pytest.approx(
            jackknife.interval(x.mean(), of_examples(x).values)
        )
        assert (p <= 0.05) == (not low < 0 < high)


def test_the_t_of_the_jackknife_of_a_mean_is_students():
    from scipy.stats import ttest_1samp

    for size in (2, 3, 12):
        x = np.random.default_rng(6).normal(0.4, 1, size=size)
        value, p = jackknife.t_test(np.concatenate([[x.mean()], of_examples(x).values]))
        expected = ttest_1samp(x, 0)
        assert (value, p) == pytest.approx((expected.statistic, expected.pvalue))
        assert jackknife.interval_of_parts(x.mean(), of_examples(x)) == pytest.approx(
            expected.confidence_interval()
        )
    assert jackknife.t_test(np.zeros(4)) == (0.0, 1.0)
    assert np.isnan(jackknife.t_test(np.ones(4))[0])


def test_the_excess_is_that_of_all_pairs_by_the_definition():
    x = np.random.default_rng(7).normal(size=7)
    value, (one, two), n = x.mean() ** 2, squared_mean(x), 7
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    second = np.array(
        [
            n * value - (n - 1) * (one[i] + one[j]) + (n - 2) * two[i, j]
            for i, j in pairs
        ]
    )
    expected = ((second - second.mean()) ** 2).sum() / (n * (n - 1))
    assert expected < jackknife._variance(one) / 2
    assert jackknife._excess(value, one, two) == pytest.approx(expected)


def test_halves_have_the_variance_of_the_whole():
    rng = np.random.default_rng(5)
    variances = []
    for _ in range(200):
        x = rng.normal(size=40)
        values = [x[rng.permutation(40)[:20]].mean() for _ in range(40)]
        low, high = jackknife.interval_of_parts(
            x.mean(), LeftOut(np.array(values), 0.5, 20)
        )
        variances.append(((high - low) / 2 / t.ppf(0.975, 20)) ** 2)
    assert np.mean(variances) == pytest.approx(1 / 40, rel=0.1)


def test_a_number_of_zero_has_p_1_and_one_without_standard_error_none():
    assert jackknife.p_value_of_parts(0.0, LeftOut(np.zeros(5), 0.2, 4)) == 1.0
    for values in (
        np.full(5, 2.0),
        np.array([1.0, np.nan]),
        np.array([1.0]),
        np.empty(0),
    ):
        assert np.isnan(jackknife.p_value_of_parts(2.0, LeftOut(values, 0.5, 1)))
        assert jackknife.interval_of_parts(2.0, LeftOut(values, 0.5, 1)) is None
