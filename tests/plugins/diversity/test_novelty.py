"""Novelty against references and against a file."""

import gzip

import numpy as np
import pytest

from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.run.features import FeatureCache
from harness_metrics.diversity.distinct import Distinct, VocabularySize
from harness_metrics.diversity.novelty import Novelty

SETS = [
    CaptionSet("1", ("a dog runs", "a dog"), ("a dog runs fast", "dog")),
    CaptionSet("2", ("a cat sits here", "the the the"), ("a cat", "a dog")),
    CaptionSet("3", ("", "a dog"), ("x", "y")),
]


def run(metric, items=SETS):
    features = FeatureCache([item.references for item in items])
    batch = features.batch(items)
    return metric.stats(batch, features, metric.fit(features.references, features))


def test_novelty(tmp_path):
    metric = Novelty(tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 1.0, 0.5]
    (tmp_path / "train.txt").write_text("a dog runs\nthe the the\n")
    metric = Novelty(corpus=str(tmp_path / "train.txt"), tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 0.5, 1.0]
    with pytest.raises(InputError, match="no such file of texts") as caught:
        Novelty(corpus=str(tmp_path / "none.txt"))
    assert caught.value.parameter == "corpus"


def test_gzipped_corpus_of_novelty(tmp_path):
    (tmp_path / "train.gz").write_bytes(gzip.compress(b"a dog runs\n\nthe the the\n"))
    metric = Novelty(corpus=str(tmp_path / "train.gz"), tokenizer="none")
    assert metric.per_example(run(metric)).tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize(
    "metric",
    [
        Distinct(n=2, tokenizer="none"),
        Distinct(n=1, tokenizer="none"),
        VocabularySize(tokenizer="none"),
    ],
)
def test_weighted_types_are_those_of_repeated_rows(metric):
    stats = run(metric)
    weights = np.array(
        [[1, 1, 1], [2, 0, 1], [0, 1, 0], [0, 0, 3], [1, 0, 0]], dtype=float
    )
    expected = [
        metric.reduce(stats[np.repeat(np.arange(3), row.astype(int))])
        for row in weights
    ]
    np.testing.assert_array_equal(metric.reduce(stats, weights), expected)
