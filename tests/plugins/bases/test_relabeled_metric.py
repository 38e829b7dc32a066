"""Tests."""

import numpy as np
import pytest

from harness.contracts import CaptionSet, MetricSpec
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness_metrics.bases.relabeled_metric import (
    BestMatchMetric,
    evaluate_labels,
    observed_labels,
)


def test_observed_labels_put_candidates_first():
    assert observed_labels(2, 3).tolist() == [[True, True, False, False, False]]


def test_blocks_of_labels_do_not_change_values():
    examples = np.arange(6.0).reshape(2, 3)
    prepared = []

    def prepare(row):
        prepared.append(row.tolist())
        return lambda labels: labels @ row

    labels = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    expected = examples @ labels.T
    assert np.array_equal(evaluate_labels(examples, labels, 2, prepare), expected)
    # once per example, whatever the number of blocks
    assert prepared == examples.tolist()
    assert evaluate_labels(examples[:0], labels, 2, prepare).shape == (0, 3)


class Overlap(BestMatchMetric):
    """Size of the common set of characters, or its negative where lower is better."""

    def __init__(self, higher_is_better: bool) -> None:
        self.spec = MetricSpec("overlap", higher_is_better=higher_is_better)

    def signature(self):
        return f"overlap|{self.spec.higher_is_better}"

    def pairwise(self, batch, features):
        sign = 1 if self.spec.higher_is_better else -1
        return np.array(
            [
                [[sign * len(set(a) & set(b)) for b in texts] for a in texts]
                for texts in batch.texts
            ]
        )


@pytest.fixture
def batch_and_features():
    features = FeatureCache()
    return features.batch(
        [CaptionSet("x", ("abc", "bd"), ("ab", "abcd", "e"))]
    ), features


@pytest.mark.parametrize(("higher", "expected"), [(True, 2.5), (False, -2.5)])
def test_the_best_reference_is_the_largest_or_the_smallest_score(
    batch_and_features, higher, expected
):
    batch, features = batch_and_features
    metric = Overlap(higher)
    assert metric.fit([], features) is None
    # 3 and 2 characters in common with "abcd"
    assert metric.scores(batch, features, None).tolist() == [expected]


@pytest.mark.parametrize("higher", [True, False])
def test_the_null_is_the_score_of_each_relabeling(batch_and_features, higher):
    batch, features = batch_and_features
    labels = permutation.relabelings(2, 3)
    metric = Overlap(higher)
    texts = np.array(batch.texts[0])
    sets = [CaptionSet("x", tuple(texts[row]), tuple(texts[~row])) for row in labels]
    expected = [
        metric.scores(features.batch([item]), features, None)[0] for item in sets
    ]
    assert metric.null(batch, features, None, labels)[0].tolist() == expected


def test_a_subclass_without_pairwise_is_named(batch_and_features):
    class Empty(BestMatchMetric):
        spec = MetricSpec("empty", higher_is_better=True)

    batch, features = batch_and_features
    with pytest.raises(NotImplementedError, match="Empty must define pairwise"):
        Empty().scores(batch, features, None)
