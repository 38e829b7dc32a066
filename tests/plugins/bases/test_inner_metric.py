"""Tests."""

from harness.run.features import FeatureCache
from harness_metrics.bases.inner_metric import FitsInner
from harness_metrics.diversity.novelty import Novelty


class Outer(FitsInner):
    inner = Novelty(tokenizer="none")


def test_corpus_state_is_that_of_the_inner_metric_in_one_pass_and_in_shards():
    outer = Outer()
    features = FeatureCache()
    states = [outer.fit([[text]], features) for text in ("a dog", "a cat")]
    assert (
        outer.merge(*states)
        == outer.fit([["a dog"], ["a cat"]], features)
        == {"a dog", "a cat"}
    )
