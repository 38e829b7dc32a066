"""METEOR in a run: statistics, relabelings, distances,
and alignments shared through the feature cache.
"""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from caption_kernels.batches import meteor as kernels
from harness import registry
from harness.contracts import Batch, CaptionSet, Distance, Metric, Permutes
from harness.errors import MissingExtra, UnknownName
from harness.run.features import FeatureCache
from harness_metrics.meteor import engine as meteor
from harness_metrics.meteor import installed
from harness_metrics.meteor import metric as meteor_metric
from harness_metrics.meteor.metric import Alignments, Meteor, MeteorDistance
from harness_metrics.tokenisers import java_runtime

SETS = [
    CaptionSet(
        "one", ("a dog runs", "a puppy"), ("the dog is running", "a dog", "dogs run")
    ),
    CaptionSet("two", ("a cat sat", "x"), ("a cat sat", "the cat", "")),
    CaptionSet(
        "three", ("", "a dog runs"), ("a man", "a man rides", "a man rides a horse")
    ),
]


@pytest.fixture
def scene():
    features = FeatureCache([item.references for item in SETS])
    return features, features.batch(SETS)


@pytest.fixture
def metric():
    return Meteor(tokenizer="none")


def test_registry_resolves_metric_and_distance():
    assert isinstance(registry.resolve("metrics", "meteor"), Metric)
    assert isinstance(registry.resolve("metrics", "meteor"), Permutes)
    assert isinstance(
        registry.resolve("distances", {"meteor": {"tokenizer": "none"}}), Distance
    )


def test_signatures_name_tokenizer_and_engine(monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: "java")
    assert (
        Meteor().signature() == MeteorDistance().signature() == "meteor|v1.5-en|tok:ptb"
    )
    assert Meteor(engine="java").signature() == "meteor|v1.5-en|tok:ptb|engine:java"
    assert Meteor(engine="java").spec.needs == {"references", "java"}


@pytest.mark.parametrize("kind", [Meteor, MeteorDistance])
def test_unknown_parameters_are_named(kind):
    with pytest.raises(UnknownName, match="unknown engine 'jav'; did you mean 'java'"):
        kind(engine="jav")
    with pytest.raises(UnknownName, match="unknown tokenizer 'pbt'"):
        kind(tokenizer="pbt")
    with pytest.raises(TypeError):
        kind(colour="red")


def test_corpus_number_is_the_corpus_score_of_all_candidates(scene, metric):
    features, batch = scene
    pairs = [
        (candidate, item.references) for item in SETS for candidate in item.candidates
    ]
    stats = metric.stats(batch, features, None)
    assert stats.shape == (3, 24)
    assert metric.reduce(stats) == meteor.corpus_score(meteor.statistics(pairs))
    means = meteor.scores(pairs).reshape(3, 2).mean(axis=1)
    np.testing.assert_allclose(metric.per_example(stats), means, rtol=0, atol=1e-15)


def test_the_time_grows_with_the_pairs_that_are_aligned(metric):
    assert metric.cost(3, 2, 12.0, tested=True).seconds == pytest.approx(
        25 / 6 * metric.cost(3, 2, 12.0).seconds
    )


def test_weights_count_examples(scene, metric):
    features, batch = scene
    stats = metric.stats(batch, features, None)
    whole = metric.reduce(stats)
    doubled = metric.reduce(np.concatenate([stats, stats[1:2]]))
    weighted = metric.reduce(stats, np.array([[1, 1, 1], [1, 2, 1], [2, 2, 2]]))
    assert weighted.tolist() == [whole, doubled, whole]
    assert np.isnan(metric.reduce(stats[:0]))


def test_shards_give_the_same_statistics(scene, metric):
    features, batch = scene
    parts = [metric.stats(features.batch([item]), features, None) for item in SETS]
    np.testing.assert_array_equal(
        np.concatenate(parts), metric.stats(batch, features, None)
    )


def test_relabelings_equal_scoring_the_relabeled_sets(scene, metric):
    features, batch = scene
    sides = itertools.combinations(range(5), 2)
    labels = np.array([np.isin(np.arange(5), columns) for columns in sides])
    null = metric.null(batch, features, None, labels)
    assert null.shape == (3, 10)
    observed = metric.per_example(metric.stats(batch, features, None))
    np.testing.assert_array_equal(null[:, 0], observed)

    for b, item in enumerate(SETS):
        texts = np.array([*item.candidates, *item.references], dtype=object)
        for p, candidates in enumerate(labels):
            relabelled = CaptionSet(
                "x", tuple(texts[candidates]), tuple(texts[~candidates])
            )
            cache = FeatureCache([relabelled.references])
            stats = metric.stats(cache.batch([relabelled]), cache, None)
            assert null[b, p] == metric.per_example(stats)[0]


def test_metric_and_distance_share_their_alignments(scene, metric, monkeypatch):
    features, batch = scene
    calls = []
    align = kernels.align
    monkeypatch.setattr(
        kernels,
        "align",
        lambda table, groups: calls.append(len(groups.hyps)) or align(table, groups),
    )
    metric.stats(batch, features, None)
    metric.null(batch, features, None, np.array([[True, True, False, False, False]]))
    features.distances(MeteorDistance(tokenizer="none"), batch)
    metric.stats(features.sub_batch(batch, 1, 2), features, None)
    assert sum(calls) == 3 * 5 * 5  # each ordered pair once


def test_fewer_candidates_and_references_are_slices(scene, metric):
    features, batch = scene
    small = features.sub_batch(batch, 1, 2)
    other = FeatureCache()
    cut = [
        CaptionSet(item.id, item.candidates[:1], item.references[:2]) for item in SETS
    ]
    alone = other.batch(cut)
    np.testing.assert_array_equal(
        metric.stats(small, features, None), metric.stats(alone, other, None)
    )
    distance = MeteorDistance(tokenizer="none")
    np.testing.assert_array_equal(
        features.distances(distance, small), other.distances(distance, alone)
    )


def test_distances_are_zero_for_the_same_words_and_directed(scene):
    features, batch = scene
    distances = features.distances(MeteorDistance(tokenizer="none"), batch)
    # a candidate that is a reference
    assert distances[1, 0, 2] == distances[1, 2, 0] == 0
    # also for an empty text
    assert (np.diagonal(distances, axis1=1, axis2=2) == 0).all()
    assert distances[2, 0, 1] == 1
    assert distances[0, 0, 3] != distances[0, 3, 0]
    np.testing.assert_array_equal(distances[0] == 0, np.eye(5, dtype=bool))
    others = ~np.eye(5, dtype=bool)
    square = meteor.matrix([*SETS[0].candidates, *SETS[0].references])
    np.testing.assert_array_equal(distances[0][others], 1 - square[others])


def test_distance_of_a_very_repetitive_text_to_itself_is_zero():
    text = "a b " * 30
    features = FeatureCache()
    batch = features.batch([CaptionSet("x", (text,), (text + " ", "a"))])
    assert features.distances(MeteorDistance(tokenizer="none"), batch)[0, 0, 1] == 0


def test_ptb_tokenizer_removes_punctuation_before_alignment():
    item = CaptionSet("x", ("A dog.",), ("a dog",))
    features = FeatureCache()
    batch = features.batch([item])
    assert features.distances(MeteorDistance(), batch)[0, 0, 1] == 0
    assert features.distances(MeteorDistance(tokenizer="none"), batch)[0, 0, 1] > 0


def test_alignments_of_any_candidate_are_cut_from_the_parent(scene):
    features, batch = scene
    columns = np.array([1, 2, 4])  # second candidate, first and third reference
    cut = Batch(
        tuple(CaptionSet(s.id, s.candidates[1:], s.references[::2]) for s in SETS),
        batch.text_ids[:, columns],
        1,
        2,
        batch,
        columns,
    )
    alignments = Alignments(features, "none", "python")
    whole = alignments.candidates_with_references(batch)
    part = alignments.candidates_with_references(cut)
    assert part.shape == (3, 1, 2)
    np.testing.assert_array_equal(part["statistics"], whole["statistics"][:, 1:, ::2])
    np.testing.assert_array_equal(part["score"], whole["score"][:, 1:, ::2])
    np.testing.assert_array_equal(
        alignments.matrices(cut),
        alignments.matrices(batch)[:, columns[:, None], columns],
    )


def test_forgotten_batches_are_aligned_again(scene, metric, monkeypatch):
    features, batch = scene
    stats = metric.stats(batch, features, None)
    features.forget(batch)
    calls = []
    align = kernels.align
    monkeypatch.setattr(
        kernels, "align", lambda table, groups: calls.append(1) or align(table, groups)
    )
    np.testing.assert_array_equal(metric.stats(batch, features, None), stats)
    assert calls == [1]


def test_java_engine_without_java_is_refused_before_the_run(monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: None)
    with pytest.raises(
        MissingExtra, match=r"METEOR \(engine: java\) needs a Java runtime"
    ):
        Meteor(engine="java")


@pytest.mark.parametrize("kind", [Meteor, MeteorDistance])
def test_warm_loads_the_lexicon_for_the_compiled_engine_only(kind, monkeypatch):
    monkeypatch.setattr(java_runtime, "find_java", lambda: "java")
    starts = []
    monkeypatch.setattr(meteor_metric, "start_loading", lambda: starts.append(1))
    kind(engine="java").warm()
    assert starts == []
    kind().warm()
    assert starts == [1]


def test_the_process_ends_after_the_thread_that_loads_the_lexicon(monkeypatch):
    loaded = threading.Event()
    before = set(threading.enumerate())
    monkeypatch.setattr(installed, "_load", lambda: loaded.wait(10))
    installed.start_loading()
    (thread,) = set(threading.enumerate()) - before
    loaded.set()
    # one that returns from compiled code while the interpreter shuts down aborts the
    # process
    assert not thread.daemon
    thread.join()
