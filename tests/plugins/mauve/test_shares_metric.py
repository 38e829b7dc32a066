"""``mauve-knn`` and ``mauve-kde``: contract, range, parameters."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.mauve.shares_metric import MauveKernel, MauveNeighbours


@parametrize_with_checks(
    [MauveNeighbours(embedding="bow", k=2), MauveKernel(embedding="bow")]
)
def test_contract(check):
    check()


@pytest.mark.parametrize(
    "metric", [MauveNeighbours(embedding="bow", k=2), MauveKernel(embedding="bow")]
)
def test_mixed_samples_score_higher_than_samples_apart(metric):
    dogs, buses = [
        tuple(f"{x} {word}" for word in "abc") for x in ("the dog", "red bus")
    ]
    sets = [CaptionSet("apart", dogs, buses), CaptionSet("same", dogs, dogs)]
    features = FeatureCache([dogs + buses] * 2)
    apart, same = metric.scores(features.batch(sets), features, None)
    assert 0 < apart < 0.5 < same <= 1


@pytest.mark.parametrize("shape", [(1, 4), (2, 3), (1, 5)])
def test_texts_that_are_all_neighbours_have_no_value(shape):
    n, m = shape
    dogs, buses = [
        tuple(f"{word} {number}" for number in range(count))
        for word, count in (("dog", n), ("bus", m))
    ]
    features = FeatureCache([dogs + buses])
    batch = features.batch([CaptionSet("apart", dogs, buses)])
    metric = MauveNeighbours(embedding="bow", k=4)
    values = [
        metric.scores(batch, features, None)[0],
        *metric.null(batch, features, None, np.arange(n + m) < [[n], [n]])[0],
    ]
    assert np.isnan(values).all() == (n + m <= 5)


def test_names_and_mistakes():
    assert MauveNeighbours(embedding="bow", k=2).spec.name == "mauve-knn(bow, k=2)"
    assert MauveKernel(embedding="bow").signature() == "mauve-kde|c:5|bow|hashed:4096"
    with pytest.raises(HarnessError, match="MauveNeighbours: k is 0"):
        MauveNeighbours(embedding="bow", k=0)
