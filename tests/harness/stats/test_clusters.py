"""Resampling of whole clusters."""

from __future__ import annotations

import numpy as np

from harness.stats.clusters import expand_weights, leave_clusters_out, number_clusters, sum_over_clusters


def test_weights_of_clusters_are_those_of_their_examples():
    clusters = number_clusters(np.array(["b", "a", "b", "c"]))
    assert clusters.tolist() == [0, 1, 0, 2]
    weights = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    values = np.array([[1.0], [10.0], [100.0], [1000.0]])
    np.testing.assert_array_equal(expand_weights(weights, clusters) @ values, weights @ sum_over_clusters(values, clusters))
    both = expand_weights(np.hstack([weights, 1 - weights]), clusters)
    np.testing.assert_array_equal(both[:, 4:], expand_weights(1 - weights, clusters))


def test_groups_of_whole_clusters_are_left_out():
    clusters = np.repeat(np.arange(30), 3)
    parts = leave_clusters_out(lambda rows: float(len(np.unique(rows[:, 0]))), clusters[:, None].astype(float), clusters, 0)
    assert len(parts.values) == 20 and parts.freedom == 19 and parts.share == 1 / 20
    assert set(parts.values) == {28.0, 29.0}, "a cluster is left out as a whole"
    assert parts.values.sum() == 20 * 30 - 30
