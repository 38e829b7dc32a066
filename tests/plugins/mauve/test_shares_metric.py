"""``mauve-knn`` and ``mauve-kde``: contract, range, parameters."""

import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.mauve.shares_metric import MauveKernel, MauveNeighbours


@parametrize_with_checks([MauveNeighbours(embedding="bow", k=2), MauveKernel(embedding="bow")])
def test_contract(check):
    check()


@pytest.mark.parametrize("metric", [MauveNeighbours(embedding="bow", k=2), MauveKernel(embedding="bow")])
def test_mixed_samples_score_higher_than_samples_apart(metric):
    dogs, buses = [tuple(f"{x} {word}" for word in "abc") for x in ("the dog", "red bus")]
    sets = [CaptionSet("apart", dogs, buses), CaptionSet("same", dogs, dogs)]
    features = FeatureCache([dogs + buses] * 2)
    apart, same = metric.scores(features.batch(sets), features, None)
    assert 0 < apart < 0.5 < same <= 1


def test_names_and_mistakes():
    assert MauveNeighbours(embedding="bow", k=2).spec.name == "mauve-knn(bow, k=2)"
    assert MauveKernel(embedding="bow").signature() == "mauve-kde|c:5|bow|5000"
    with pytest.raises(HarnessError, match="MauveNeighbours: k is 0"):
        MauveNeighbours(embedding="bow", k=0)
