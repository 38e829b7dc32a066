import math

import numpy as np
import pytest

from harness.contracts import CaptionSet, MeanMetric, MetricSpec
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness_metrics.bases.metrics import (
    BestMatchMetric,
    DistanceMetric,
    EmbeddingMetric,
    FitsInner,
    evaluate_labels,
    features_by_example,
    mean_of_defined,
    observed_labels,
)
from harness_metrics.diversity.metric import Novelty

# --------------------------------------------------------------------------- values by example


def test_features_by_example_divides_candidates_and_references():
    features = FeatureCache()
    computed = []
    sets = [CaptionSet("1", ("a", "b"), ("c",)), CaptionSet("2", ("b", "d"), ("a",))]

    def lengths(texts):
        computed.extend(texts)
        return [text.upper() for text in texts]

    result = features_by_example(features, features.batch(sets), "upper", lengths)
    assert result == [(["A", "B"], ["C"]), (["B", "D"], ["A"])]
    assert sorted(computed) == ["a", "b", "c", "d"]  # each distinct text once


def test_mean_of_defined_leaves_nan_out():
    assert (
        mean_of_defined([1.0, math.nan, 2.0])
        == 1.5
        == mean_of_defined(np.array([1.0, 2.0]))
    )
    assert math.isnan(mean_of_defined([math.nan])) and math.isnan(mean_of_defined([]))


# ---------------------------------------------------------------------------

# --------------------------------------------------------------------------- inner metrics


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


# ---------------------------------------------------------------------------

# --------------------------------------------------------------------------- relabelings


def test_observed_labels_put_candidates_first():
    assert observed_labels(2, 3).tolist() == [[True, True, False, False, False]]


def test_blocks_of_labels_do_not_change_values():
    examples = np.arange(6.0).reshape(2, 3)
    prepared = []

    def prepare(row):
        prepared.append(row.tolist())
        return lambda labels: labels @ row

    labels = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]])
    expected = examples @ labels.T
    assert np.array_equal(evaluate_labels(examples, labels, 2, prepare), expected)
    # once per example, whatever the number of blocks
    assert prepared == examples.tolist()
    assert evaluate_labels(examples[:0], labels, 2, prepare).shape == (0, 3)


class Overlap(BestMatchMetric):
    """Size of the common set of characters, or its negative where lower is better."""

    def __init__(self, higher_is_better: bool) -> None:
        self.spec = MetricSpec("overlap", higher_is_better=higher_is_better)

    def signature(self):
        return f"overlap|{self.spec.higher_is_better}"

    def pairwise(self, batch, features):
        sign = 1 if self.spec.higher_is_better else -1
        return np.array(
            [
                [[sign * len(set(a) & set(b)) for b in texts] for a in texts]
                for texts in batch.texts
            ]
        )


@pytest.fixture
def batch_and_features():
    features = FeatureCache()
    return features.batch(
        [CaptionSet("x", ("abc", "bd"), ("ab", "abcd", "e"))]
    ), features


@pytest.mark.parametrize(("higher", "expected"), [(True, 2.5), (False, -2.5)])
def test_the_best_reference_is_the_largest_or_the_smallest_score(
    batch_and_features, higher, expected
):
    batch, features = batch_and_features
    metric = Overlap(higher)
    assert metric.fit([], features) is None
    # 3 and 2 characters in common with "abcd"
    assert metric.scores(batch, features, None).tolist() == [expected]


@pytest.mark.parametrize("higher", [True, False])
def test_the_null_is_the_score_of_each_relabeling(batch_and_features, higher):
    batch, features = batch_and_features
    labels = permutation.relabelings(2, 3)
    metric = Overlap(higher)
    texts = np.array(batch.texts[0])
    sets = [CaptionSet("x", tuple(texts[row]), tuple(texts[~row])) for row in labels]
    expected = [
        metric.scores(features.batch([item]), features, None)[0] for item in sets
    ]
    assert metric.null(batch, features, None, labels)[0].tolist() == expected


def test_a_subclass_without_pairwise_is_named(batch_and_features):
    class Empty(BestMatchMetric):
        spec = MetricSpec("empty", higher_is_better=True)

    batch, features = batch_and_features
    with pytest.raises(NotImplementedError, match="Empty must define pairwise"):
        Empty().scores(batch, features, None)


# ---------------------------------------------------------------------------


def test_label_needs_and_signature_follow_the_embedding():
    metric = EmbeddingMetric(
        "spread",
        {"bow": {"dimensions": 9}},
        None,
        "k=2",
        settings=["k:2", "seed:0"],
        bounds=(0.0, 1.0),
    )
    assert (
        metric.spec.name == "spread(bow, k=2)"
        and metric.signature() == "spread|k:2|seed:0|bow|hashed:9"
    )
    assert metric.spec.needs == {"references", "embeddings"} and metric.spec.bounds == (
        0.0,
        1.0,
    )
    assert EmbeddingMetric("spread", "bow", True, references=False).spec.needs == {
        "embeddings"
    }
    assert (
        EmbeddingMetric("spread", "bow", True, "k=2").signature()
        == "spread|k=2|bow|hashed:4096"
    )


# --------------------------------------------------------------------------- distances
# Names, signatures and warming of metrics over a distance.


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
