"""Metrics over a distance."""

import numpy as np
import pytest

from harness.contracts import MeanMetric
from harness_metrics.bases.distance_metric import DistanceMetric


class Warm:
    """Distance that counts how often it is warmed."""

    name = "warm"
    needs = frozenset({"embeddings"})
    calls = 0

    def signature(self):
        return "warm|1"

    def matrices(self, batch, features):
        return np.zeros((len(batch), batch.n + batch.m, batch.n + batch.m))

    def warm(self):
        self.calls += 1


def test_time_and_memory_grow_with_the_pairs_of_texts():
    few, many = (
        DistanceMetric("example", Warm(), True).cost(n, 2, 10.0) for n in (1, 4)
    )
    base = [
        MeanMetric.cost(DistanceMetric("example", Warm(), True), n, 2, 10.0)
        for n in (1, 4)
    ]
    more_pairs = 6**2 - 3**2
    assert many.bytes - few.bytes == pytest.approx(
        base[1].bytes - base[0].bytes + 30 * more_pairs
    )
    assert many.seconds - few.seconds == pytest.approx(
        base[1].seconds - base[0].seconds + 1e-6 * more_pairs
    )


def test_name_signature_needs_and_warming():
    distance = Warm()
    metric = DistanceMetric("example", distance, True, "k=2", min_candidates=2)
    assert (metric.spec.name, metric.signature()) == (
        "example(warm, k=2)",
        "example|k=2|warm|1",
    )
    assert metric.spec.needs == {"references", "embeddings"}
    assert (metric.spec.min_candidates, metric.spec.level) == (2, "set")
    metric.warm()
    assert distance.calls == 1
    assert (
        DistanceMetric("example", "bleu", None, references=False).spec.needs
        == frozenset()
    )
    DistanceMetric("example", {"bert": {"embedding": "bow"}}, None).warm()
