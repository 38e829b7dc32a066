"""The metrics: undefined examples, several captions, categories."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.contracts import CaptionSet, Metric
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.pragmatic import metrics
from harness_tasks.a3ds.scene import scene_id

TARGET = scene_id([0, 1, 5, 7, 2, 0])
OTHER = scene_id([0, 1, 3, 7, 2, 0])


def batch(*sets, features):
    sets_of_captions = [
        CaptionSet(
            f"g{k}",
            tuple(texts),
            ("a",),
            meta={"target_id": TARGET, "distractor_id": OTHER, "group": group},
        )
        for k, (texts, group) in enumerate(sets)
    ]
    return features.batch(sets_of_captions)


def test_scores_and_undefined_examples():
    features = FeatureCache()
    games = batch((["a cyan ball"], "one"), (["a ball"], "two"), features=features)

    def values(metric):
        return metric.stats(games, features, None).ravel().tolist()

    efficiency = metrics.ContrastiveEfficiency()
    assert isinstance(efficiency, Metric)
    stats = efficiency.stats(games, features, None)
    assert stats[0, 0] == 1
    assert math.isnan(stats[1, 0])

    assert values(metrics.Discriminativity()) == [1, 0]
    assert values(metrics.OptimalDiscriminativity()) == [1, 0]
    assert values(metrics.MentionedFeatures()) == [2, 1]
    assert values(metrics.FalseFeatures()) == [0, 0]
    assert values(metrics.Relevance()) == pytest.approx([0.8, 0.8])
    assert values(metrics.RedundantMention(feature="shape")) == [1, 1]
    assert math.isnan(values(metrics.RedundantMention(feature="object_hue"))[0])


def test_score_of_an_example_is_the_mean_of_the_defined_scores():
    features = FeatureCache()
    games = batch((["a cyan ball", "a ball"], "one"), features=features)
    assert metrics.Discriminativity().stats(games, features, None)[0, 0] == 0.5
    assert metrics.ContrastiveEfficiency().stats(games, features, None)[0, 0] == 1


def test_a_category_excludes_other_examples():
    features = FeatureCache()
    games = batch((["a cyan ball"], "one"), (["a ball"], "two"), features=features)
    metric = metrics.Discriminativity(category="two")
    assert metric.spec.name == "discriminativity(two)"
    assert np.isnan(metric.stats(games, features, None)).ravel().tolist() == [
        True,
        False,
    ]
    assert metric.signature() != metrics.Discriminativity().signature()


def test_modes_and_invalid_parameters():
    assert (
        metrics.Discriminativity(mode="authors-script").spec.name
        == "discriminativity(authors-script)"
    )
    with pytest.raises(
        HarnessError,
        match="script has no optimal-discriminativity; expected mode paper",
    ):
        metrics.OptimalDiscriminativity(mode="authors-script")
    with pytest.raises(HarnessError, match="did you mean 'shape'"):
        metrics.RedundantMention(feature="shap")
    features = FeatureCache()
    bare = features.batch([CaptionSet("x", ("a ball",), ("a",))])
    with pytest.raises(InputError, match="'x' has no meta"):
        metrics.Discriminativity().stats(bare, features, None)


def test_listener_accuracy_of_any_listener():
    class Half:
        def fingerprint(self):
            return "half"

        def generate(self, examples, decoding, seeds):
            return []

        def listen(self, examples, captions):
            return np.array([0 if "cyan" in text else 1 for text in captions])

    features = FeatureCache()
    games = batch(
        (["a cyan ball", "a ball"], "one"), (["cyan", "cyan"], "two"), features=features
    )
    metric = metrics.ListenerAccuracy(listener=Half())
    assert metric.stats(games, features, None).ravel().tolist() == [0.5, 1]
    assert "half" in metric.signature()
    with pytest.raises(HarnessError, match="cannot listen"):
        metrics.ListenerAccuracy(listener=object())


@pytest.mark.parametrize(
    ("meta", "distractor"),
    [
        ({"distractor_id": 3}, 3),
        ({"distractor_ids": [3]}, 3),
        ({"distractor_ids": [3, 4]}, [3, 4]),
    ],
)
def test_one_distractor_in_a_list_is_that_distractor(meta, distractor):
    assert metrics._game({"target_id": 1, **meta}, "g", "m") == {
        "target_id": 1,
        "distractor_id": distractor,
    }
