"""Components of texts and the numbers that are computed from them."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from harness.stats import permutation
from harness_metrics.sets import meanings


def test_components_are_those_of_scipy():
    rng = np.random.default_rng(0)
    distances = rng.random((40, 12, 12))
    found = meanings.components(distances, 0.5)
    for matrix, labels in zip(distances, found):
        linked = np.maximum(matrix, matrix.T) <= 0.5
        number, expected = connected_components(linked, directed=False)
        assert len(set(labels.tolist())) == number
        assert len(set(zip(labels.tolist(), expected.tolist()))) == number


def test_a_long_chain_is_one_meaning():
    points = np.arange(50.0)[np.random.default_rng(1).permutation(50)]
    found = meanings.components(np.abs(points[:, None] - points)[None], 1.0)
    assert (found == 0).all()


def test_entropy_of_shares():
    p = np.array([0.5, 0.25, 0.25])
    assert np.allclose(
        meanings.entropy(np.array([[0, 0, 2, 3]])), -(p * np.log(p)).sum()
    )


def test_covered_references_by_the_definition():
    rng = np.random.default_rng(2)
    found = rng.integers(0, 4, (5, 6))
    labels = permutation.relabelings(3, 3)
    for row, example in zip(meanings.measure_coverage(found, labels), found):
        for value, label in zip(row, labels):
            said = set(example[label].tolist())
            assert np.isclose(
                value,
                np.mean([meaning in said for meaning in example[~label].tolist()]),
            )
