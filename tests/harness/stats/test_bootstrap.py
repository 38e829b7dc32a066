"""The bootstrap: seeded, paired by size, and right on a case with a known answer."""

from __future__ import annotations

import numpy as np

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
