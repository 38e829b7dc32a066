"""BLEU of pairs of candidates."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.diversity.pairwise_bleu import PairwiseBleu

SETS = [
    CaptionSet("1", ("a dog runs", "a dog"), ("a dog runs fast", "dog")),
    CaptionSet("2", ("a cat sits here", "the the the"), ("a cat", "a dog")),
    CaptionSet("3", ("", "a dog"), ("x", "y")),
]


def run(metric, items=SETS):
    features = FeatureCache([item.references for item in items])
    batch = features.batch(items)
    return metric.stats(batch, features, metric.fit(features.references, features))


def test_pairwise_bleu():
    metric = PairwiseBleu(n=1, tokenizer="none")
    forth = 2 / 3
    back = np.exp(1 - 3 / 2)
    assert metric.per_example(run(metric))[0] == pytest.approx(
        (forth + back) / 2, rel=1e-6
    )
    same = [CaptionSet("1", ("a dog", "a dog", "a dog"), ("x",))]
    assert metric.reduce(run(metric, same)) == pytest.approx(1.0)
