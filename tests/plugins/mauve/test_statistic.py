"""MAUVE of two samples: determinism, invariances, relabelings, agreement with the
reference implementation.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.stats.permutation import relabelings
from harness_metrics.bases.relabeled_metric import observed_labels
from harness_metrics.mauve import statistic
from tests.support.mauve import mauve


def samples(n, m, shift, d=16, seed=0):
    rng = np.random.default_rng([seed, n, m])
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)) + shift * (np.arange(d) < 4)


def test_mauve_falls_with_the_distance_of_the_samples():
    values = [mauve(*samples(300, 250, shift)) for shift in (0, 0.7, 1.5, 4)]
    assert values[0] > 0.85
    assert all(a > b for a, b in itertools.pairwise(values))
    assert values[-1] < 0.1


def test_mauve_is_seeded_and_symmetric():
    x, y = samples(120, 90, 0.5)
    assert mauve(x, y) == mauve(x, y)
    assert mauve(y, x) == pytest.approx(mauve(x, y), rel=1e-9)
    assert mauve(x, y, seed=1) != mauve(x, y, seed=2)


def test_automatic_buckets():
    assert [
        statistic.automatic_buckets(n, m)
        for n, m in ((10, 5), (300, 90), (25_000, 50_000))
    ] == [2, 9, 500]


def test_spread_over_seeds_and_buckets():
    x, y = samples(120, 100, 0.5)
    spread = statistic.spread(x, y, seeds=(1, 2, 3))
    assert spread.seeds[0] == mauve(x, y, seed=1)
    assert spread.sd == pytest.approx(np.std(spread.seeds, ddof=1))
    assert set(spread.by_buckets) == {5, 20}
    assert spread.by_buckets[20] == mauve(x, y, 20, seed=1)


@pytest.mark.equal_bits
def test_relabeled_equals_the_values_of_reordered_vectors():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(3, 8, 10))
    labels = relabelings(5, 3)
    null = statistic.relabel(vectors, labels, 2, seed=25, redo=5)
    observed = observed_labels(5, 3)
    assert null[:, :1] == pytest.approx(
        statistic.relabel(vectors, observed, 2, seed=25, redo=5, scaling=5.0)
    )
    for p in (1, 17, 40):
        order = np.concatenate([np.flatnonzero(labels[p]), np.flatnonzero(~labels[p])])
        moved = statistic.relabel(
            vectors[:, order], observed, 2, seed=25, redo=5, scaling=5.0
        )
        assert moved[:, 0] == pytest.approx(null[:, p])
    wide = statistic.relabel(vectors, labels, 30, seed=25, redo=1)
    assert wide.shape == null.shape


@pytest.mark.equal_bits
def test_identical_texts_have_mauve_one_everywhere():
    vectors = np.repeat(np.random.default_rng(0).normal(size=(2, 1, 6)), 7, axis=1)
    assert statistic.relabel(
        vectors, relabelings(4, 3), 2, seed=25, redo=5
    ) == pytest.approx(np.ones((2, 35)))


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.3, 1.0])
def test_within_the_seed_to_seed_deviation_of_mauve_text(shift):
    oracle = pytest.importorskip("mauve")
    x, y = samples(400, 400, shift)
    ours = np.array([mauve(x, y, seed=seed) for seed in range(10)])
    theirs = np.array(
        [
            oracle.compute_mauve(
                p_features=x, q_features=y, seed=seed, verbose=False
            ).mauve
            for seed in range(10)
        ]
    )
    assert abs(ours.mean() - theirs.mean()) < theirs.std(ddof=1) + 2 * ours.std(
        ddof=1
    ) / np.sqrt(10)
