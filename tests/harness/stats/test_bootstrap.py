"""The bootstrap: seeded, paired by size, and right on a case with a known answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats import bootstrap


def test_weights_are_counts_and_depend_on_seed_and_size_alone():
    a = np.concatenate(list(bootstrap.weights(7, 600, 3)))
    assert a.shape == (600, 7)
    assert (a.sum(axis=1) == 7).all()
    assert np.array_equal(a, np.concatenate(list(bootstrap.weights(7, 600, 3))))
    assert not np.array_equal(a, np.concatenate(list(bootstrap.weights(7, 600, 4))))


def test_the_interval_of_a_mean_has_the_standard_errors_width():
    x = np.random.default_rng(0).normal(size=400)
    values = bootstrap.distribution(lambda w: w @ x / len(x), len(x), 4000, 0)
    low, high = bootstrap.interval(values)
    width = 2 * 1.96 * x.std() / np.sqrt(len(x))
    assert abs((high - low) / width - 1) < 0.06
    assert low < x.mean() < high


def means(x):
    return lambda w: w @ x / w.sum(axis=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=99), st.integers(0, 5))
def test_small_intervals_contain_the_value_and_stay_among_the_scores(scores, seed):
    x = np.array(scores)
    ends = bootstrap.confidence_interval(means(x), len(x), 200, seed)
    if ends is None:
        assert np.ptp(x) <= 1e-9 * np.abs(x).max()
    else:
        slack = 1e-9 * np.abs(x).max()
        value = means(x)(np.ones((1, len(x))))[0]
        assert x.min() - slack <= ends[0] <= value <= ends[1] <= x.max() + slack


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_small_intervals_follow_a_change_of_unit(seed):
    x = np.random.default_rng(seed).exponential(size=12)
    low, high = bootstrap.confidence_interval(means(x), 12, 200, seed) or (0.0, 0.0)
    mirrored = bootstrap.confidence_interval(means(3 - 2 * x), 12, 200, seed)
    assert mirrored == pytest.approx((3 - 2 * high, 3 - 2 * low))


def test_intervals_of_many_examples_are_percentiles():
    x = np.random.default_rng(1).exponential(size=bootstrap.SMALL)
    values = bootstrap.distribution(means(x), len(x), 500, 7)
    assert bootstrap.confidence_interval(means(x), len(x), 500, 7) == bootstrap.interval(values)
    fewer = bootstrap.confidence_interval(means(x[1:]), len(x) - 1, 500, 7)
    assert fewer != bootstrap.interval(bootstrap.distribution(means(x[1:]), len(x) - 1, 500, 7))


def test_equal_or_undefined_scores_have_no_interval():
    assert bootstrap.confidence_interval(means(np.full(50, 3.0)), 50, 100, 0) is None
    assert bootstrap.confidence_interval(means(np.full(50, 0.1)), 50, 100, 0) is None  # the sums differ by rounding
    for value in (np.nan, np.inf):
        assert bootstrap.confidence_interval(lambda w, value=value: np.full(len(w), value), 50, 100, 0) is None


def test_small_intervals_cover_a_skewed_mean_where_percentiles_do_not():
    rng = np.random.default_rng(0)
    small = percentile = 0
    for draw in range(600):
        x = rng.exponential(size=20)
        low, high = bootstrap.confidence_interval(means(x), 20, 400, draw % 20) or (0.0, 0.0)
        small += low <= 1 <= high
        low, high = bootstrap.interval(bootstrap.distribution(means(x), 20, 400, draw % 20))
        percentile += low <= 1 <= high
    assert small / 600 > 0.91
    assert small - percentile > 0.02 * 600


def test_beyond_the_pole_the_interval_reads_an_end_of_the_distribution():
    # scale = 1 - acceleration * (shift + z) is negative: the sign of shift + z says which end.
    assert bootstrap._adjusted_tail(2.0, 1.0, 1.0) == 1.0
    assert bootstrap._adjusted_tail(-2.0, -1.0, -1.0) == 0.0
    assert bootstrap._adjusted_tail(-2.0, 1.0, -2.0) == 0.0
    assert bootstrap._adjusted_tail(1.0, -0.5, 2.0) == 1.0
