"""METEOR in the engine: statistics that add up, relabelings, distances."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

from harness import registry
from harness.contracts import CaptionSet, Distance, Metric, Testable
from harness.errors import UnknownName
from harness.plugins.meteor import engine as meteor
from harness.plugins.meteor.metric import Alignments, Meteor, MeteorDistance
from harness.plugins.tokenisers import java_runtime as java
from harness.run.features import FeatureCache

SETS = [
    CaptionSet("one", ("a dog runs", "a puppy"), ("the dog is running", "a dog", "dogs run")),
    CaptionSet("two", ("a cat sat", "x"), ("a cat sat", "the cat", "")),
    CaptionSet("three", ("", "a dog runs"), ("a man", "a man rides", "a man rides a horse")),
]


@pytest.fixture
def scene():
    features = FeatureCache([item.references for item in SETS])
    return features, features.batch(SETS)


@pytest.fixture
def metric():
    return Meteor(tokenizer="none")


def test_the_registry_gives_both():
    assert isinstance(registry.resolve("metrics", "meteor"), Metric)
    assert isinstance(registry.resolve("metrics", "meteor"), Testable)
    assert isinstance(registry.resolve("distances", {"meteor": {"tokenizer": "none"}}), Distance)


def test_signatures_say_what_changes_the_number(monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: "java")  # a signature starts no runtime
    assert Meteor().signature() == MeteorDistance().signature() == "meteor|v1.5-en|tok:ptb"
    assert Meteor(engine="java").signature() == "meteor|v1.5-en|tok:ptb|engine:java"
    assert Meteor(engine="java").spec.needs == {"references", "java"}


@pytest.mark.parametrize("kind", [Meteor, MeteorDistance])
def test_unknown_choices_are_named(kind):
    with pytest.raises(UnknownName, match="unknown engine 'jav'; did you mean 'java'"):
        kind(engine="jav")
    with pytest.raises(UnknownName, match="unknown tokenizer 'pbt'"):
        kind(tokenizer="pbt")
    with pytest.raises(TypeError):
        kind(colour="red")


def test_the_number_is_the_corpus_score_of_all_candidates(scene, metric):
    features, batch = scene
    pairs = [(candidate, item.references) for item in SETS for candidate in item.candidates]
    stats = metric.stats(batch, features, None)
    assert stats.shape == (3, 24)
    assert metric.reduce(stats) == meteor.corpus_score(meteor.statistics(pairs))
    means = meteor.scores(pairs).reshape(3, 2).mean(axis=1)
    np.testing.assert_allclose(metric.per_example(stats), means, rtol=0, atol=1e-15)


def test_weights_count_examples(scene, metric):
    features, batch = scene
    stats = metric.stats(batch, features, None)
    whole = metric.reduce(stats)
    doubled = metric.reduce(np.concatenate([stats, stats[1:2]]))
    found = metric.reduce(stats, np.array([[1, 1, 1], [1, 2, 1], [2, 2, 2]]))
    assert found.tolist() == [whole, doubled, whole]
    assert np.isnan(metric.reduce(stats[:0]))


def test_shards_give_the_same_statistics(scene, metric):
    features, batch = scene
    parts = [metric.stats(features.batch([item]), features, None) for item in SETS]
    np.testing.assert_array_equal(np.concatenate(parts), metric.stats(batch, features, None))


def test_relabelings_equal_scoring_the_relabeled_sets(scene, metric):
    features, batch = scene
    labels = np.array([np.isin(np.arange(5), chosen) for chosen in itertools.combinations(range(5), 2)])
    null = metric.null(batch, features, None, labels)
    assert null.shape == (3, 10)
    np.testing.assert_array_equal(null[:, 0], metric.per_example(metric.stats(batch, features, None)))
    for b, item in enumerate(SETS):
        texts = np.array([*item.candidates, *item.references], dtype=object)
        for p, chosen in enumerate(labels):
            own = CaptionSet("x", tuple(texts[chosen]), tuple(texts[~chosen]))
            one = FeatureCache([own.references])
            assert null[b, p] == metric.per_example(metric.stats(one.batch([own]), one, None))[0]


def test_metric_and_distance_share_their_alignments(scene, metric, monkeypatch):
    features, batch = scene
    calls = []
    real = meteor.align
    monkeypatch.setattr(
        meteor, "align", lambda table, **groups: calls.append(len(groups["hyps"])) or real(table, **groups)
    )
    metric.stats(batch, features, None)
    metric.null(batch, features, None, np.array([[True, True, False, False, False]]))
    features.distances(MeteorDistance(tokenizer="none"), batch)
    metric.stats(features.sub_batch(batch, 1, 2), features, None)
    assert sum(calls) == 3 * 5 * 5  # each ordered pair once


def test_fewer_candidates_and_references_are_slices(scene, metric):
    features, batch = scene
    small = features.sub_batch(batch, 1, 2)
    alone = FeatureCache()
    cut = [CaptionSet(item.id, item.candidates[:1], item.references[:2]) for item in SETS]
    own = alone.batch(cut)
    np.testing.assert_array_equal(metric.stats(small, features, None), metric.stats(own, alone, None))
    distance = MeteorDistance(tokenizer="none")
    np.testing.assert_array_equal(features.distances(distance, small), alone.distances(distance, own))


def test_distances_are_zero_for_the_same_words_and_directed(scene):
    features, batch = scene
    found = features.distances(MeteorDistance(tokenizer="none"), batch)
    assert found[1, 0, 2] == found[1, 2, 0] == 0  # a candidate that is a reference
    assert (np.diagonal(found, axis1=1, axis2=2) == 0).all()  # an empty text and itself too
    assert found[2, 0, 1] == 1
    assert found[0, 0, 3] != found[0, 3, 0]
    np.testing.assert_array_equal(found[0] == 0, np.eye(5, dtype=bool))
    others = ~np.eye(5, dtype=bool)
    square = meteor.matrix([*SETS[0].candidates, *SETS[0].references])
    np.testing.assert_array_equal(found[0][others], 1 - square[others])


def test_a_text_full_of_rivals_is_at_no_distance_from_itself():
    text = "a b " * 30
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", (text,), (text + " ", "a"))])
    assert features.distances(MeteorDistance(tokenizer="none"), batch)[0, 0, 1] == 0


def test_the_coco_pipeline_drops_punctuation_first():
    item = CaptionSet("x", ("A dog.",), ("a dog",))
    features = FeatureCache()
    batch = features.batch([item])
    assert features.distances(MeteorDistance(), batch)[0, 0, 1] == 0
    assert features.distances(MeteorDistance(tokenizer="none"), batch)[0, 0, 1] > 0


def test_alignments_travel_to_workers_empty():
    assert pickle.loads(pickle.dumps(Alignments("none", "python"))).tokenizer == "none"
