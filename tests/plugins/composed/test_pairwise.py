"""Any distance as a metric: contract, values, p-values."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.testing import parametrize_with_checks
from harness_metrics.composed.pairwise import Pairwise

DISTANCE = {"bert": {"embedding": "bow"}}


@parametrize_with_checks(
    [Pairwise(distance=DISTANCE), Pairwise(distance="bleu", aggregate="best")]
)
def test_contract(check):
    check()


def test_mean_and_nearest_reference_under_every_relabeling():
    texts = ("a dog runs", "a cat", "a dog", "the red bus", "a red bus")
    features = FeatureCache([texts[2:]])
    batch = features.batch([CaptionSet("x", texts[:2], texts[2:])])
    labels = permutation.relabelings(2, 3)
    for aggregate, over in (("mean", np.mean), ("best", np.min)):
        metric = Pairwise(distance="bleu", aggregate=aggregate)
        matrix = features.distances(metric.distance, batch)[0]
        expected = [
            over(matrix[np.ix_(label, ~label)], axis=1).mean() for label in labels
        ]
        np.testing.assert_allclose(
            metric.null(batch, features, None, labels)[0], expected, atol=1e-12
        )
        assert metric.scores(batch, features, None) == pytest.approx(expected[0])


def test_names():
    assert Pairwise(distance=DISTANCE).spec.name == "pairwise(cosine-bow)"
    assert (
        Pairwise(distance=DISTANCE, aggregate="best").spec.name
        == "pairwise(cosine-bow, best)"
    )
    with pytest.raises(
        HarnessError, match="aggregate is 'bst'; .*; did you mean 'best'"
    ):
        Pairwise(distance=DISTANCE, aggregate="bst")
