"""``semantic-entropy`` and ``reference-coverage``: contract, values, parameters."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.testing import parametrize_with_checks
from harness_metrics.sets import meaning_metrics
from harness_metrics.sets.meaning_metrics import ReferenceCoverage, SemanticEntropy

# --------------------------------------------------------------------------- meanings
# Components of texts and the numbers that are computed from them.


def test_components_are_those_of_scipy():
    rng = np.random.default_rng(0)
    distances = rng.random((40, 12, 12))
    found = meaning_metrics.components(distances, 0.5)
    for matrix, labels in zip(distances, found):
        linked = np.maximum(matrix, matrix.T) <= 0.5
        number, expected = connected_components(linked, directed=False)
        assert len(set(labels.tolist())) == number
        assert len(set(zip(labels.tolist(), expected.tolist()))) == number


def test_a_long_chain_is_one_meaning():
    points = np.arange(50.0)[np.random.default_rng(1).permutation(50)]
    found = meaning_metrics.components(np.abs(points[:, None] - points)[None], 1.0)
    assert (found == 0).all()


def test_entropy_of_shares():
    p = np.array([0.5, 0.25, 0.25])
    assert np.allclose(
        meaning_metrics.entropy(np.array([[0, 0, 2, 3]])), -(p * np.log(p)).sum()
    )


def test_covered_references_by_the_definition():
    rng = np.random.default_rng(2)
    found = rng.integers(0, 4, (5, 6))
    labels = permutation.relabelings(3, 3)
    for row, example in zip(meaning_metrics.measure_coverage(found, labels), found):
        for value, label in zip(row, labels):
            said = set(example[label].tolist())
            assert np.isclose(
                value,
                np.mean([meaning in said for meaning in example[~label].tolist()]),
            )


# --------------------------------------------------------------------------- metrics

DISTANCE = {"bert": {"embedding": "bow"}}


@parametrize_with_checks(
    [
        SemanticEntropy(distance="bleu", threshold=0.8),
        ReferenceCoverage(distance=DISTANCE, threshold=0.5),
    ]
)
def test_contract(check):
    check()


def test_values():
    sets = [
        CaptionSet(
            "1",
            ("a dog", "a dog", "a red bus", "a dog"),
            ("a dog", "a dog", "food on plates"),
        ),
        CaptionSet(
            "2", ("x y", "u v", "p q", "m n"), ("a dog", "a red bus", "two cats")
        ),
    ]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    entropy = SemanticEntropy(distance=DISTANCE, threshold=0.05).scores(
        batch, features, None
    )
    assert entropy[0] == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)))
    coverage = ReferenceCoverage(distance=DISTANCE, threshold=0.05)
    assert coverage.scores(batch, features, None) == pytest.approx([2 / 3, 0])
    assert coverage.signature() == "reference-coverage|0.05|cosine|bow|hashed:4096"


def test_a_threshold_is_not_negative():
    with pytest.raises(
        HarnessError,
        match="SemanticEntropy: threshold is -1; expected a number of at least 0",
    ):
        SemanticEntropy(distance=DISTANCE, threshold=-1)


def test_a_coverage_is_a_share():
    assert ReferenceCoverage(distance="rouge").spec.bounds == (0.0, 1.0)
