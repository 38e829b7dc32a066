"""Resampling of whole clusters of examples that are not independent: several examples of one image, video or dialogue.

Weights are drawn over the C clusters and given to each of their examples, so that every method for independent examples serves clusters.

References
----------
Field & Welsh (2007), *Bootstrapping clustered data*, Journal of the Royal Statistical Society B 69(3): the bootstrap of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness.contracts import LeftOut, Objects, Statistics

LEFT_OUT_GROUPS = 20
"""Maximum number of groups of clusters that are left out of a metric that is computed anew for each of them."""


def number_clusters(labels: np.ndarray) -> np.ndarray:
    """Return the number from 0 of each label, in the order of first appearance, int64, shape (B,).

    >>> number_clusters(np.array(["v2", "v1", "v2"])).tolist()
    [0, 1, 0]
    """
    _, first, numbers = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers.ravel()]


def expand_weights(weights: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return weights of examples (W, k B) from weights (W, k C) of clusters, for k systems side by side.

    >>> expand_weights(np.array([[2.0, 0.0]]), np.array([0, 1, 0]))
    array([[2., 0., 2.]])
    """
    count = int(clusters.max()) + 1
    return weights.reshape(len(weights), -1, count)[:, :, clusters].reshape(len(weights), -1)


def sum_over_clusters(columns: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the sums of columns (B, K) over each cluster, shape (C, K)."""
    sums = np.zeros((int(clusters.max()) + 1, columns.shape[1]))
    np.add.at(sums, clusters, columns)
    return sums


def leave_clusters_out(reduce: Callable[[Any], float], stats: Statistics | Objects, clusters: np.ndarray, seed: int) -> LeftOut:
    """Return the numbers without each of at most :data:`LEFT_OUT_GROUPS` random groups of whole clusters, numbered by ``clusters`` (B,)."""
    count = int(clusters.max()) + 1
    groups = min(count, LEFT_OUT_GROUPS)
    label = (np.random.default_rng([seed, count, 2]).permutation(count) % groups)[clusters]
    values = np.array([float(reduce(stats[label != group])) for group in range(groups)])
    return LeftOut(values, 1 / groups, groups - 1)
