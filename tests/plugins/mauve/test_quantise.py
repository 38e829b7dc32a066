"""Buckets: k-means, principal components, invariances, equal vectors."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.mauve import quantise, small_sets

DOGS = [
    [1, 1, 0, 0, 0, 0],
    [1, 0, 1, 0, 0, 0],
    [1, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 0, 0, 0, 2, 1],
    [0, 0, 0, 0, 1, 2],
]
SETS = {
    "counts with repeated texts": np.random.default_rng(0)
    .poisson(0.3, (90, 12))
    .astype(np.float32),
    "words of their own": np.eye(14, 20, dtype=np.float32),
    "two kinds of texts": np.array(DOGS * 3, dtype=np.float32),
    "more texts than dimensions": np.random.default_rng(1)
    .poisson(1.0, (70, 4))
    .astype(np.float32),
}


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
    many = small_sets.many_buckets(np.stack([x[:12], x[12:24]]), 2)
    assert same_partition(
        small_sets.many_buckets(x[:12][order[order < 12]][None], 2)[0],
        many[0][order[order < 12]],
    )


def test_more_buckets_than_points_and_identical_points():
    assert quantise.clusters(np.zeros((3, 2), dtype=np.float32), 10).tolist() == [
        0,
        0,
        0,
    ]
    assert len(set(quantise.clusters(np.eye(3, dtype=np.float32), 10).tolist())) == 3
    with pytest.raises(ValueError, match="k >= 1"):
        quantise.clusters(np.zeros((3, 2), dtype=np.float32), 0)


@pytest.mark.equal_bits
def test_equal_vectors_share_a_bucket():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(3, 6))[rng.integers(0, 3, (4, 40))].astype(np.float32)
    for labels in (
        small_sets.many_buckets(vectors, 2),
        np.stack([quantise.buckets(one, 5) for one in vectors]),
    ):
        for one, buckets in zip(vectors, labels):
            kinds = np.unique(one, axis=0, return_inverse=True)[1].ravel()
            assert all(
                len(set(buckets[kinds == kind].tolist())) == 1 for kind in range(3)
            )


@pytest.fixture
def other_axes(monkeypatch):
    """``other_axes(seed)``: eigenvectors have other signs, those of equal eigenvalues
    other axes, and all of them rounding errors.
    """
    original = np.linalg.eigh

    def choose(seed):
        rng = np.random.default_rng(seed)

        def eigh(matrices):
            values, axes = original(matrices)
            values = values.copy()
            axes = axes.copy()
            flat_values = values.reshape(-1, values.shape[-1])
            flat_axes = axes.reshape(-1, *axes.shape[-2:])
            for some_values, some_axes in zip(flat_values, flat_axes):
                scale = abs(some_values).max(initial=1e-300)
                start = 0
                for end in range(1, len(some_values) + 1):
                    if (
                        end == len(some_values)
                        or some_values[end] - some_values[end - 1] > 1e-11 * scale
                    ):
                        rotation = np.linalg.qr(
                            rng.normal(size=(end - start, end - start))
                        )[0]
                        some_axes[:, start:end] = some_axes[:, start:end] @ rotation
                        start = end
                some_values += 1e-15 * scale * rng.normal(size=len(some_values))
            return values, axes + 1e-15 * rng.normal(size=axes.shape)

        monkeypatch.setattr(np.linalg, "eigh", eigh)

    return choose


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("k", [2, 5, 9])
def test_buckets_do_not_depend_on_the_axes(name, k, other_axes):
    vectors = SETS[name]
    few = np.stack([vectors[start : start + 10] for start in range(4)])
    expected = quantise.buckets(vectors, k, seed=3)
    of_few = small_sets.many_buckets(few, min(k, 4))
    assert len(set(expected.tolist())) > 1
    for seed in range(5):
        other_axes(seed)
        assert np.array_equal(quantise.buckets(vectors, k, seed=3), expected)
        assert np.array_equal(small_sets.many_buckets(few, min(k, 4)), of_few)


def test_the_first_of_centres_at_equal_distances_is_the_nearest():
    cloud = quantise._Cloud.of(
        np.array([[0.0, 0.0], [0.0, 1e-12], [0.0, -1e-6], [2.0, 0.0]])
    )
    centres = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 0.0]])
    # a millionth is a difference, float32 does not see it
    assert quantise._nearest(cloud, centres).tolist() == [0, 0, 1, 2]
    assert quantise._nearest(cloud, centres[[1, 0, 2]]).tolist() == [0, 0, 0, 2]


def test_points_are_assigned_as_in_float64():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9000, 12))
    centres = rng.normal(size=(20, 12))
    expected = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(
        quantise._nearest(quantise._Cloud.of(points), centres), expected
    )
