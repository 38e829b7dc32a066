"""Buckets: k-means, principal components, invariances, equal vectors."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.mauve import quantise


def normal(n, d=16):
    return np.random.default_rng([0, n]).normal(size=(n, d))


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)


def test_clusters_recover_separated_groups():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    centres = 20 * rng.normal(size=(4, 5))
    points = (centres[truth] + rng.normal(size=(200, 5))).astype(np.float32)
    assert same_partition(quantise.clusters(points, 4), truth)


@pytest.mark.equal_bits
def test_buckets_do_not_depend_on_order_or_call():
    x = normal(60)
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
        points = quantise.reduce_dimensions(vectors).astype(np.float64)
        expected = within(points, quantise.clusters(points.astype(np.float32), 2, redo=20))
        assert within(points, labels) == pytest.approx(expected, rel=0.05)


def test_reduced_keeps_ninety_percent_of_the_variance():
    x = normal(100, d=20)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    total = ((unit - unit.mean(0)) ** 2).sum()
    points = quantise.reduce_dimensions(x)
    variance = (points.astype(np.float64) ** 2).sum()
    assert 0.9 * total <= variance <= total
    assert variance - (points[:, -1].astype(np.float64) ** 2).sum() < 0.9 * total


def test_more_buckets_than_points_and_identical_points():
    assert quantise.clusters(np.zeros((3, 2), dtype=np.float32), 10).tolist() == [0, 0, 0]
    assert len(set(quantise.clusters(np.eye(3, dtype=np.float32), 10).tolist())) == 3
    with pytest.raises(ValueError, match="k >= 1"):
        quantise.clusters(np.zeros((3, 2), dtype=np.float32), 0)


@pytest.mark.equal_bits
def test_equal_vectors_share_a_bucket():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 6))[rng.integers(0, 3, (4, 40))].astype(np.float32)
    for labels in (quantise.many_buckets(vectors, 2), np.stack([quantise.buckets(one, 5) for one in vectors])):
        for one, buckets in zip(vectors, labels):
            kinds = np.unique(one, axis=0, return_inverse=True)[1].ravel()
            assert all(len(set(buckets[kinds == kind].tolist())) == 1 for kind in range(3))
