"""The bootstrap: seeded, paired by size, and right on a case with a known answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.stats import bootstrap, jackknife
from harness.stats.bootstrap import (
    COUNTER_BLOCK,
    expand_weights,
    large_interval,
    leave_clusters_out,
    number_clusters,
    poisson_sums,
    sum_over_clusters,
)


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


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=bootstrap.FEW, max_size=99),
    st.integers(0, 5),
)
def test_small_intervals_contain_the_value_and_stay_among_the_scores(scores, seed):
    x = np.array(scores)
    ends = bootstrap.confidence_interval(means(x), len(x), 200, seed)
    if ends is None:
        assert np.ptp(x) <= 1e-9 * np.abs(x).max()
    else:
        slack = 1e-9 * np.abs(x).max()
        value = means(x)(np.ones((1, len(x))))[0]
        assert x.min() - slack <= ends[0] <= value <= ends[1] <= x.max() + slack


@pytest.mark.parametrize("n", range(2, bootstrap.FEW))
def test_intervals_of_few_examples_are_those_of_student(n):
    x = np.random.default_rng(n).normal(size=n)
    low, high = bootstrap.confidence_interval(means(x), n, 20_000, 0) or (0.0, 0.0)
    expected = jackknife.interval(float(x.mean()), (x.sum() - x) / (n - 1))
    assert (low, high) == pytest.approx(expected, abs=0.05 * (high - low))
    # a sum is n times the mean
    total = bootstrap.confidence_interval(lambda w: w @ x, n, 20_000, 0)
    assert total == pytest.approx((n * low, n * high))


def test_weights_are_kept_for_the_next_number_of_as_many_examples():
    first, again, other = (list(bootstrap.weights(n, 300, 1)) for n in (6, 6, 7))
    assert [block.shape for block in first] == [(256, 6), (44, 6)]
    assert first[0] is again[0]
    assert not first[0].flags.writeable
    assert other[0].shape == (256, 7)
    many = list(bootstrap.weights(2000, 300, 1))
    assert many[0] is not next(iter(bootstrap.weights(2000, 300, 1)))


@given(st.integers(0, 1000))
# a resample is the sample itself, and its mean differs from the value by rounding
@example(503)
def test_small_intervals_follow_a_change_of_unit(seed):
    x = np.random.default_rng(seed).exponential(size=12)
    low, high = bootstrap.confidence_interval(means(x), 12, 200, seed) or (0.0, 0.0)
    mirrored = bootstrap.confidence_interval(means(3 - 2 * x), 12, 200, seed)
    assert mirrored == pytest.approx((3 - 2 * high, 3 - 2 * low))


def test_intervals_of_many_examples_are_percentiles():
    x = np.random.default_rng(1).exponential(size=bootstrap.SMALL)
    values = bootstrap.distribution(means(x), len(x), 500, 7)
    assert bootstrap.confidence_interval(
        means(x), len(x), 500, 7
    ) == bootstrap.interval(values)
    fewer = bootstrap.confidence_interval(means(x[1:]), len(x) - 1, 500, 7)
    assert fewer != bootstrap.interval(
        bootstrap.distribution(means(x[1:]), len(x) - 1, 500, 7)
    )


def test_equal_or_undefined_scores_have_no_interval():
    assert bootstrap.confidence_interval(means(np.full(50, 3.0)), 50, 100, 0) is None
    # the sums differ by rounding
    assert bootstrap.confidence_interval(means(np.full(50, 0.1)), 50, 100, 0) is None
    for value in (np.nan, np.inf):
        assert (
            bootstrap.confidence_interval(
                lambda w, value=value: np.full(len(w), value), 50, 100, 0
            )
            is None
        )


@pytest.mark.slow
def test_small_intervals_cover_a_skewed_mean_where_percentiles_do_not():
    rng = np.random.default_rng(0)
    small = percentile = 0
    for draw in range(600):
        x = rng.exponential(size=20)
        low, high = bootstrap.confidence_interval(means(x), 20, 400, draw % 20) or (
            0.0,
            0.0,
        )
        small += low <= 1 <= high
        low, high = bootstrap.interval(
            bootstrap.distribution(means(x), 20, 400, draw % 20)
        )
        percentile += low <= 1 <= high
    assert small / 600 > 0.91
    assert small - percentile > 0.02 * 600


def test_beyond_the_pole_the_interval_reads_an_end_of_the_distribution():
    # scale = 1 - acceleration * (shift + z) is negative: the sign of shift + z says
    # which end.
    assert bootstrap._adjusted_tail(2.0, 1.0, 1.0) == 1.0
    assert bootstrap._adjusted_tail(-2.0, -1.0, -1.0) == 0.0
    assert bootstrap._adjusted_tail(-2.0, 1.0, -2.0) == 0.0
    assert bootstrap._adjusted_tail(1.0, -0.5, 2.0) == 1.0


def test_intervals_of_skewed_means_do_not_move():
    x = np.random.default_rng(5).exponential(size=20)
    assert bootstrap.confidence_interval(means(x), 20, 400, 3) == pytest.approx(
        (0.5630013530327784, 1.2024564315591395)
    )
    assert bootstrap.confidence_interval(means(x**3), 20, 400, 3) == pytest.approx(
        (0.7865376361064957, 4.036970580057362)
    )


def test_poisson_weights_depend_on_the_position_alone():
    n = 2 * COUNTER_BLOCK + 5
    samples = 40
    addends = np.random.default_rng(1).integers(0, 9, (n, 2)).astype(float)
    whole = poisson_sums(addends, samples, seed=3)
    for cut in (1, COUNTER_BLOCK, COUNTER_BLOCK + 7):
        first = addends.copy()
        rest = addends.copy()
        first[cut:], rest[:cut] = 0, 0
        np.testing.assert_array_equal(
            poisson_sums(addends[:cut], samples, 3), poisson_sums(first, samples, 3)
        )
        np.testing.assert_array_equal(
            poisson_sums(first, samples, 3) + poisson_sums(rest, samples, 3), whole
        )
    assert not np.array_equal(poisson_sums(addends, samples, seed=4), whole)


def test_poisson_sums_have_the_mean_and_the_variance_of_the_sum():
    n = 3000
    samples = 4000
    addends = np.column_stack([np.ones(n), np.random.default_rng(2).normal(2, 1, n)])
    sums = poisson_sums(addends, samples, seed=0)
    assert sums.shape == (samples, 2)
    # of a sum under independent weights of variance 1
    variance = (addends**2).sum(axis=0)
    assert np.all(
        np.abs(sums.mean(axis=0) - addends.sum(axis=0))
        < 4 * np.sqrt(variance / samples)
    )
    np.testing.assert_allclose(sums.var(axis=0), variance, rtol=0.1)


class Mean:
    """A mean, from the sum of the scores and their number."""

    def summands(self, stats):
        return np.column_stack([stats[:, 0], np.ones(len(stats))])

    def of_sums(self, sums):
        return sums[..., 0] / sums[..., 1]


def test_the_interval_of_sums_is_that_of_the_normal_distribution():
    stats = np.random.default_rng(5).normal(3, 2, (20_000, 1))
    additive, interval = large_interval(
        Mean(), stats, float(stats.mean()), samples=2000, seed=0
    )
    assert additive and interval is not None
    error = 2 / math.sqrt(len(stats))
    assert interval[0] == pytest.approx(stats.mean() - 1.96 * error, abs=0.15 * error)
    assert interval[1] == pytest.approx(stats.mean() + 1.96 * error, abs=0.15 * error)


def test_sums_that_do_not_give_the_number_have_no_interval():
    stats = np.random.default_rng(5).normal(3, 2, (1000, 1))
    assert large_interval(
        Mean(), stats, float(np.median(stats)), samples=100, seed=0
    ) == (False, None)
    same = np.ones((1000, 1))
    assert large_interval(Mean(), same, 1.0, samples=100, seed=0) == (True, None)


def test_poisson_weights_are_the_counts_of_the_probabilities():
    draws = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(
        bootstrap._counts_of(draws), bootstrap._poisson_counts()
    )
    counts = np.bincount(bootstrap._counts_of(draws))
    expected = [math.exp(-1) / math.factorial(count) * 65536 for count in range(9)]
    assert counts.sum() == 1 << 16 and np.abs(counts - expected).max() < 2


def test_poisson_sums_weigh_with_16_bit_numbers_of_the_counter_based_generator():
    addends = np.eye(7)
    samples = 12
    rng = np.random.Generator(np.random.Philox(key=3, counter=[0, 0, 0, 0]))
    draws = rng.integers(0, 1 << 16, size=(samples, COUNTER_BLOCK), dtype=np.uint16)[
        :, :7
    ]
    np.testing.assert_array_equal(
        poisson_sums(addends, samples, seed=3), bootstrap._counts_of(draws)
    )


def test_weights_of_clusters_are_those_of_their_examples():
    clusters = number_clusters(np.array(["b", "a", "b", "c"]))
    assert clusters.tolist() == [0, 1, 0, 2]
    weights = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    values = np.array([[1.0], [10.0], [100.0], [1000.0]])
    np.testing.assert_array_equal(
        expand_weights(weights, clusters) @ values,
        weights @ sum_over_clusters(values, clusters),
    )
    both = expand_weights(np.hstack([weights, 1 - weights]), clusters)
    np.testing.assert_array_equal(both[:, 4:], expand_weights(1 - weights, clusters))


def test_groups_of_whole_clusters_are_left_out():
    clusters = np.repeat(np.arange(30), 3)
    parts = leave_clusters_out(
        lambda rows: float(len(np.unique(rows[:, 0]))),
        clusters[:, None].astype(float),
        clusters,
        0,
    )
    assert len(parts.values) == 20 and parts.freedom == 19 and parts.share == 1 / 20
    assert set(parts.values) == {28.0, 29.0}, "a cluster is left out as a whole"
    assert parts.values.sum() == 20 * 30 - 30
