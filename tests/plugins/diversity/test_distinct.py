"""Distinct n-grams and words."""

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.diversity.distinct import Distinct, VocabularySize

SETS = [
    CaptionSet("1", ("a dog runs", "a dog"), ("a dog runs fast", "dog")),
    CaptionSet("2", ("a cat sits here", "the the the"), ("a cat", "a dog")),
    CaptionSet("3", ("", "a dog"), ("x", "y")),
]


def run(metric, items=SETS):
    features = FeatureCache([item.references for item in items])
    batch = features.batch(items)
    return metric.stats(batch, features, metric.fit(features.references, features))


def test_distinct_and_vocabulary():
    metric = Distinct(n=1, tokenizer="none")
    assert metric.reduce(run(metric)) == pytest.approx(7 / 14)
    assert metric.per_example(run(metric)).tolist() == pytest.approx(
        [3 / 5, 5 / 7, 1.0]
    )
    assert np.isnan(
        Distinct(n=9, tokenizer="none").reduce(run(Distinct(n=9, tokenizer="none")))
    )
    words = VocabularySize(tokenizer="none")
    assert (words.reduce(run(words)), words.per_example(run(words)).tolist()) == (
        7.0,
        [3.0, 5.0, 2.0],
    )


def test_types_without_tokens_are_undefined():
    metric = Distinct(n=9, tokenizer="none")
    assert np.isnan(metric.reduce(run(metric), np.ones((2, 3)))).all()
