"""The base of metrics of pooled vectors: rows, weights, inputs."""

import numpy as np

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.sets.corpus_vectors import CorpusVectors


class Mean(CorpusVectors):
    """Sum of the vectors of the candidates."""

    def value(self, candidates, references):
        return float(candidates.sum()) + 1000 * len(references)


def test_weights_repeat_examples_and_unneeded_references_are_left_out():
    sets = [
        CaptionSet("1", ("a dog",), ("a dog",)),
        CaptionSet("2", ("a a",), ("a dog",)),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = Mean("mean", "bow", True, "plain", references=False)
    stats = metric.stats(features.batch(sets), features, None)
    assert metric.reduce(stats) == 4
    assert metric.reduce(stats, np.array([[3, 1], [0, 1]])).tolist() == [8, 2]

    assert (metric.spec.name, metric.signature()) == (
        "mean(bow, plain)",
        "mean|plain|bow|hashed:4096",
    )
    assert metric.spec.needs == {"embeddings"}
    assert (
        Mean("mean", "bow", True).reduce(
            Mean("mean", "bow", True).stats(features.batch(sets), features, None)
        )
        == 2004
    )
