"""Triangle-rank statistic and its exact test against loops over triangles and
relabelings.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.stats import permutation
from harness_metrics.trm import directions, statistic, triangles

POOLINGS = ("pooled", "per-direction")
SHAPES = [(n, m) for n in range(1, 6) for m in range(1, 6) if n + m >= 3]


def triangle_counts(d, candidates):
    """Count T_0, T_1, T_2 by direction, shape (2, 3),
    one triangle at a time as in the definition.
    """
    size = len(d)
    references = [i for i in range(size) if i not in candidates]
    counts = np.zeros((2, 3))
    for direction, (pair_side, other_side) in enumerate(
        [(candidates, references), (references, candidates)]
    ):
        for a, b in itertools.permutations(pair_side, 2):
            for x in other_side:
                inner = d[a, b]
                first = d[x, a]
                second = d[x, b]
                counts[direction, 0] += inner <= first and inner <= second
                counts[direction, 1] += (
                    first <= inner <= second or second <= inner <= first
                )
                counts[direction, 2] += first <= inner and second <= inner
    return counts


def q(counts):
    total = counts.sum()
    return sum(abs(count / total - 1 / 3) for count in counts) if total else math.nan


def brute_q(d, candidates, pooling):
    counts = triangle_counts(d, list(candidates))
    if pooling == "pooled":
        return q(counts.sum(axis=0))
    defined = [value for value in map(q, counts) if not math.isnan(value)]
    return sum(defined) if defined else math.nan


def brute_p(d, n, pooling):
    values = [
        brute_q(d, candidates, pooling)
        for candidates in itertools.combinations(range(len(d)), n)
    ]
    return sum(value >= values[0] - 1e-12 for value in values) / len(values)


def random_distances(batch, size, seed, levels):
    """Asymmetric matrices (batch, size, size) with zero diagonal;
    few levels make ties, 0 levels make none.
    """
    rng = np.random.default_rng(seed)
    d = (
        rng.integers(0, levels, (batch, size, size)).astype(float)
        if levels
        else rng.random((batch, size, size))
    )
    d[:, range(size), range(size)] = 0
    return d


@pytest.mark.equal_bits
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("n,m", [shape for shape in SHAPES if sum(shape) <= 7])
@given(seed=st.integers(0, 10**6), levels=st.sampled_from([0, 2, 3, 6]))
@settings(max_examples=4)  # each of many shapes is enumerated by loops
def test_statistic_and_p_value_equal_the_loops(n, m, pooling, seed, levels):
    d = random_distances(2, n + m, seed, levels)
    expected = [brute_q(one, range(n), pooling) for one in d]
    assert statistic.triangle_rank(d, n, pooling) == pytest.approx(expected, abs=1e-12)
    assert statistic.exact_p_values(d, n, pooling) == pytest.approx(
        [brute_p(one, n, pooling) for one in d], abs=1e-12
    )


@pytest.mark.equal_bits
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("n,m", [shape for shape in SHAPES if sum(shape) > 7])
@given(seed=st.integers(0, 10**6), levels=st.sampled_from([0, 2, 5]))
@settings(max_examples=1)  # thousands of relabelings by loops
def test_larger_shapes_equal_the_loops(n, m, pooling, seed, levels):
    d = random_distances(1, n + m, seed, levels)
    assert statistic.exact_p_values(d, n, pooling)[0] == pytest.approx(
        brute_p(d[0], n, pooling), abs=1e-12
    )


@pytest.mark.parametrize("pooling", POOLINGS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_relabeled_equals_the_loops_for_any_labels(pooling, seed):
    rng = np.random.default_rng(seed)
    d = random_distances(2, 6, seed, 4)
    labels = rng.random((6, 6)) < 0.5
    null = statistic.relabel(d, 3, labels, pooling)
    expected = [
        [brute_q(one, np.flatnonzero(row).tolist(), pooling) for row in labels]
        for one in d
    ]
    assert null == pytest.approx(np.array(expected), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("n,m", [(10, 5), (4, 6), (5, 5)])
def test_exact_test_equals_the_share_of_relabeled(n, m, pooling):
    d = random_distances(3, n + m, 7, 5)
    null = statistic.relabel(d, n, permutation.relabelings(n, m), pooling)
    assert null[:, 0] == pytest.approx(
        statistic.triangle_rank(d, n, pooling), abs=1e-12
    )
    expected = (null >= null[:, :1] - 1e-12).mean(axis=1)
    assert np.array_equal(statistic.exact_p_values(d, n, pooling), expected)


def test_memory_bounds_change_nothing(monkeypatch):
    d = random_distances(5, 9, 3, 4)
    labels = permutation.relabelings(4, 5)
    before = [
        (statistic.relabel(d, 4, labels, p), statistic.exact_p_values(d, 4, p))
        for p in POOLINGS
    ]
    for module in (statistic, directions):
        monkeypatch.setattr(module, "MEMORY_BYTES", 1)
    monkeypatch.setattr(triangles, "INDICATOR_BYTES", 1)
    for pooling, (null, p) in zip(POOLINGS, before):
        assert np.array_equal(statistic.relabel(d, 4, labels, pooling), null)
        assert np.array_equal(statistic.exact_p_values(d, 4, pooling), p)


@pytest.mark.equal_bits
@pytest.mark.parametrize("pooling", POOLINGS)
def test_order_within_a_sample_and_exchange_of_the_samples_change_nothing(pooling):
    n, m = 4, 3
    d = random_distances(1, n + m, 11, 0)[0]
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(n), n + rng.permutation(m)])
    swapped = np.concatenate([np.arange(n, n + m), np.arange(n)])
    for value in (
        statistic.triangle_rank,
        lambda d, n, p: statistic.exact_p_values(d[None], n, p)[0],
    ):
        base = value(d, n, pooling)
        assert value(d[np.ix_(order, order)], n, pooling) == pytest.approx(
            base, abs=1e-12
        )
        assert value(d[np.ix_(swapped, swapped)], m, pooling) == pytest.approx(
            base, abs=1e-12
        )


@pytest.mark.equal_bits
def test_only_the_order_of_distances_matters():
    d = random_distances(4, 8, 5, 0)
    assert np.array_equal(
        statistic.exact_p_values(d, 3), statistic.exact_p_values(np.sqrt(d) * 7, 3)
    )


@pytest.mark.parametrize("pooling", POOLINGS)
@given(
    seed=st.integers(0, 10**6),
    levels=st.sampled_from([0, 3, 6]),
    exponent=st.integers(-12, 12),
)
@settings(max_examples=15)
def test_the_unit_of_distances_changes_no_p_value(pooling, seed, levels, exponent):
    d = random_distances(2, 7, seed, levels) / 7
    p = statistic.exact_p_values(d, 4, pooling)
    assert np.array_equal(statistic.exact_p_values(d * 10.0**exponent, 4, pooling), p)


@pytest.mark.slow
def test_pooled_ties_are_those_of_the_ratios_of_integers():
    d = random_distances(40, 9, 0, 4)
    for one, p in zip(d, statistic.exact_p_values(d, 5)):
        counts = [
            triangle_counts(one, candidates).sum(axis=0).astype(int).tolist()
            for candidates in itertools.combinations(range(9), 5)
        ]
        values = [
            sum(abs(Fraction(t, sum(row)) - Fraction(1, 3)) for t in row)
            for row in counts
        ]
        assert p == sum(value >= values[0] for value in values) / len(values)


@pytest.mark.equal_bits
@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("n,m", [(1, 2), (2, 1), (1, 5), (10, 5), (6, 6)])
def test_all_texts_identical_gives_zero_and_p_one(n, m, pooling):
    d = np.zeros((1, n + m, n + m))
    assert statistic.triangle_rank(d, n, pooling) == pytest.approx([0.0], abs=1e-12)
    assert statistic.exact_p_values(d, n, pooling)[0] == 1.0


def test_separated_samples_reach_the_largest_value_and_the_floor():
    d = np.full((8, 8), 9.0)
    d[:5, :5], d[5:, 5:] = 1.0, 1.0
    np.fill_diagonal(d, 0)
    assert statistic.triangle_rank(d, 5) == pytest.approx(4 / 3)
    assert statistic.triangle_rank(d, 5, "per-direction") == pytest.approx(8 / 3)
    # only the true labels separate the samples
    assert statistic.exact_p_values(d[None], 5)[0] == 1 / permutation.count(5, 3)


def test_one_and_one_text_make_no_triangle():
    d = np.zeros((2, 2, 2))
    for pooling in POOLINGS:
        assert np.isnan(statistic.triangle_rank(d, 1, pooling)).all()
        assert np.isnan(statistic.exact_p_values(d, 1, pooling)).all()
    assert math.isnan(statistic.triangle_rank(d[0], 1))


def test_empty_batch():
    assert np.shape(statistic.triangle_rank(np.empty((0, 4, 4)), 2)) == (0,)
    assert statistic.exact_p_values(np.empty((0, 4, 4)), 2).shape == (0,)
    assert statistic.relabel(
        np.empty((0, 4, 4)), 2, permutation.relabelings(2, 2)
    ).shape == (0, 6)


@pytest.mark.parametrize(
    "shape,n,message",
    [
        ((3, 4), 2, r"distances have shape \(3, 4\); expected \(N, N\) or \(B, N, N\)"),
        ((4,), 2, r"distances have shape \(4,\)"),
        ((4, 4), 4, "4 candidates among 4 texts: both samples need at least one text"),
        ((4, 4), 0, "0 candidates among 4 texts"),
    ],
)
def test_wrong_shapes_are_errors(shape, n, message):
    with pytest.raises(ValueError, match=message):
        statistic.triangle_rank(np.zeros(shape), n)


def test_labels_of_the_wrong_width_are_an_error():
    with pytest.raises(ValueError, match=r"expected \(P, 4\)"):
        statistic.relabel(np.zeros((1, 4, 4)), 2, np.zeros((2, 5), dtype=bool))


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("n,m,duplicates", [(6, 4, False), (5, 5, False), (6, 4, True)])
def test_p_values_are_valid_under_the_null(n, m, pooling, duplicates):
    rng = np.random.default_rng(n * 10 + m)
    examples = 1500
    points = rng.normal(size=(examples, n + m, 4))
    if duplicates:
        points = np.round(points[..., :1])
    d = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    p = statistic.exact_p_values(d, n, pooling)
    assert p.min() >= 1 / permutation.count(n, m)
    for alpha in (0.01, 0.05, 0.1, 0.2, 0.35, 0.5):
        share = (p <= alpha).mean()
        error = math.sqrt(alpha * (1 - alpha) / examples)
        assert share <= alpha + 3 * error
        if not duplicates and alpha >= 0.05:  # near uniform where ties are rare
            assert share >= 0.8 * alpha - 3 * error
