"""The base of metrics over a distance: names, signatures, warming."""

import numpy as np

from harness_metrics.sets.over_distance import DistanceMetric


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


def test_name_signature_needs_and_warming():
    distance = Warm()
    metric = DistanceMetric("example", distance, True, "k=2", min_candidates=2)
    assert (metric.spec.name, metric.signature()) == ("example(warm, k=2)", "example|k=2|warm|1")
    assert metric.spec.needs == {"references", "embeddings"}
    assert (metric.spec.min_candidates, metric.spec.level) == (2, "set")
    metric.warm()
    assert distance.calls == 1
    assert DistanceMetric("example", "bleu", None, references=False).spec.needs == frozenset()
    DistanceMetric("example", {"bert": {"embedding": "bow"}}, None).warm()
