"""Buckets and MAUVE: determinism, invariances, agreement with the reference implementation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.plugins.mauve import quantise, statistic
from harness.stats.permutation import relabelings


def samples(n, m, shift, d=16, seed=0):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift * (np.arange(d) < 4)


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)


def test_clusters_find_what_is_plainly_there():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    centres = 20 * rng.normal(size=(4, 5))
    points = (centres[truth] + rng.normal(size=(200, 5))).astype(np.float32)
    assert same_partition(quantise.clusters(points, 4), truth)


def test_buckets_depend_on_neither_order_nor_call():
    x, _ = samples(60, 1, 0)
    order = np.random.default_rng(1).permutation(60)
    labels = quantise.buckets(x, 6)
    assert np.array_equal(quantise.buckets(x, 6), labels)
    assert same_partition(quantise.buckets(x[order], 6), labels[order])
    many = quantise.many_buckets(np.stack([x[:12], x[12:24]]), 2)
    assert same_partition(quantise.many_buckets(x[:12][order[order < 12]][None], 2)[0], many[0][order[order < 12]])


def test_small_sets_are_quantised_as_well_as_by_the_general_code():
    rng = np.random.default_rng(2)
    sets = rng.normal(size=(20, 15, 30))

    def within(points, labels):
        return sum(((points[labels == b] - points[labels == b].mean(axis=0)) ** 2).sum() for b in np.unique(labels))

    small = quantise.many_buckets(sets, 2, redo=20)
    for vectors, labels in zip(sets, small):
        points = quantise.reduced(vectors).astype(np.float64)
        wanted = within(points, quantise.clusters(points.astype(np.float32), 2, redo=20))
        assert within(points, labels) == pytest.approx(wanted, rel=0.05)


def test_reduced_keeps_ninety_percent_of_the_variance():
    x, _ = samples(100, 1, 0, d=20)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    total = ((unit - unit.mean(0)) ** 2).sum()
    points = quantise.reduced(x)
    kept = (points.astype(np.float64) ** 2).sum()
    assert 0.9 * total <= kept <= total
    assert kept - (points[:, -1].astype(np.float64) ** 2).sum() < 0.9 * total


def test_more_buckets_than_points_and_identical_points():
    assert quantise.clusters(np.zeros((3, 2), dtype=np.float32), 10).tolist() == [0, 0, 0]
    assert len(set(quantise.clusters(np.eye(3, dtype=np.float32), 10).tolist())) == 3
    with pytest.raises(ValueError, match="k >= 1"):
        quantise.clusters(np.zeros((3, 2), dtype=np.float32), 0)


def test_mauve_falls_with_the_distance_of_the_samples():
    values = [statistic.mauve(*samples(300, 250, shift)) for shift in (0, 0.7, 1.5, 4)]
    assert values[0] > 0.85
    assert all(a > b for a, b in itertools.pairwise(values))
    assert values[-1] < 0.1


def test_mauve_is_seeded_and_symmetric():
    x, y = samples(120, 90, 0.5)
    assert statistic.mauve(x, y) == statistic.mauve(x, y)
    assert statistic.mauve(y, x) == pytest.approx(statistic.mauve(x, y), rel=1e-9)
    assert statistic.mauve(x, y, seed=1) != statistic.mauve(x, y, seed=2)


def test_automatic_buckets():
    assert [statistic.automatic_buckets(n, m) for n, m in ((10, 5), (300, 90), (25_000, 50_000))] == [2, 9, 500]


def test_spread_over_seeds_and_buckets():
    x, y = samples(120, 100, 0.5)
    found = statistic.spread(x, y, seeds=(1, 2, 3))
    assert found.seeds[0] == statistic.mauve(x, y, seed=1)
    assert found.sd == pytest.approx(np.std(found.seeds, ddof=1))
    assert set(found.by_buckets) == {5, 20}
    assert found.by_buckets[20] == statistic.mauve(x, y, 20, seed=1)


def test_relabeled_equals_relabeling_by_hand():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(3, 8, 10))
    labels = relabelings(5, 3)
    null = statistic.relabeled(vectors, labels, 2, seed=25, redo=5)
    assert null[:, 0] == pytest.approx(statistic.per_example(vectors, 5, 2, seed=25, redo=5, scaling=5.0))
    for p in (1, 17, 40):
        order = np.concatenate([np.flatnonzero(labels[p]), np.flatnonzero(~labels[p])])
        moved = statistic.per_example(vectors[:, order], 5, 2, seed=25, redo=5, scaling=5.0)
        assert moved == pytest.approx(null[:, p])
    wide = statistic.relabeled(vectors, labels, 30, seed=25, redo=1)
    assert wide.shape == null.shape


def test_equal_vectors_share_a_bucket():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 6))[rng.integers(0, 3, (4, 40))].astype(np.float32)
    for labels in (quantise.many_buckets(vectors, 2), np.stack([quantise.buckets(one, 5) for one in vectors])):
        for one, found in zip(vectors, labels):
            kinds = np.unique(one, axis=0, return_inverse=True)[1].ravel()
            assert all(len(set(found[kinds == kind].tolist())) == 1 for kind in range(3))


def test_identical_texts_have_mauve_one_everywhere():
    vectors = np.repeat(np.random.default_rng(0).normal(size=(2, 1, 6)), 7, axis=1)
    assert statistic.relabeled(vectors, relabelings(4, 3), 2, seed=25, redo=5) == pytest.approx(np.ones((2, 35)))


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.3, 1.0])
def test_within_the_seed_to_seed_deviation_of_mauve_text(shift):
    oracle = pytest.importorskip("mauve")
    x, y = samples(400, 400, shift)
    ours = np.array([statistic.mauve(x, y, seed=seed) for seed in range(10)])
    theirs = np.array(
        [oracle.compute_mauve(p_features=x, q_features=y, seed=seed, verbose=False).mauve for seed in range(10)]
    )
    assert abs(ours.mean() - theirs.mean()) < theirs.std(ddof=1) + 2 * ours.std(ddof=1) / np.sqrt(10)
