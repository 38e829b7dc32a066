"""Distributions of pairwise distances: scipy's Wasserstein distance under every
relabeling.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from harness.stats import permutation
from harness_metrics.sets import variability


@pytest.mark.parametrize("compare", ["within", "cross"])
def test_wasserstein_distance_of_scipy(compare):
    distances = np.random.default_rng(0).integers(0, 5, (3, 6, 6)).astype(float)
    labels = permutation.relabelings(3, 3)
    values = variability.wasserstein(distances, labels, compare)
    for row, matrix in zip(values, distances):
        symmetric = (matrix + matrix.T) / 2
        for value, label in zip(row, labels):
            candidates = np.flatnonzero(label)
            references = np.flatnonzero(~label)
            human = [symmetric[pair] for pair in combinations(references, 2)]
            pairs = (
                combinations(candidates, 2)
                if compare == "within"
                else [(a, b) for a in candidates for b in references]
            )
            assert value == pytest.approx(
                wasserstein_distance([symmetric[pair] for pair in pairs], human),
                abs=1e-12,
            )


def test_means_leave_out_the_diagonal():
    distances = np.ones((1, 5, 5)) - np.eye(5)
    distances[0, :2, :2] *= 3
    assert variability.means(distances, 2).tolist() == [[3.0, 1.0]]
    assert variability.means(distances, 1)[0, 0] == 0.0
