"""Scores of pairs of texts by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness_metrics.dense.pair_scores import Pairs, caption_metric, pair_scorer
from tests.plugins.dense.test_metric import one_video


def test_any_caption_metric_scores_the_pairs():
    reference = [("a dog runs", 0.0, 10.0)]
    system = [("a dog walks", 0.0, 10.0)]
    value = one_video(
        system, reference, protocol="activitynet-2018", text={"rouge1": {}}
    )
    assert value == pytest.approx(2 / 3)
    value = one_video(system, reference, text="rouge1")
    assert value == pytest.approx(2 / 3)
    plain = {"cider": {"variant": "plain"}}
    pairs = {"protocol": "activitynet-2018", "tious": [0.5], "text": plain}
    assert one_video(system * 2, reference * 2, **pairs) == 0
    two = [*system, ("a red car", 50.0, 60.0)]
    references = [*reference, ("a red car", 50.0, 60.0)]
    # one word of three is common, and weighs as much as the others
    assert 2 < one_video(two, references, **pairs) < 10


def test_cider_has_no_score_of_a_single_pair():
    reference = [("a dog runs", 0.0, 10.0)]
    with pytest.raises(HarnessError, match="CIDEr has no score of a single pair"):
        one_video(reference, reference, text="cider")


def pairs_of(features, texts):
    """Return the pairs of two videos, whose texts are (hypothesis, reference)."""
    hyps = features.intern([hyp for own in texts for hyp, _ in own])
    refs = features.intern([ref for own in texts for _, ref in own])
    owners = np.repeat(np.arange(len(texts)), [len(own) for own in texts])
    return Pairs(len(texts), owners, hyps, refs)


@pytest.mark.parametrize("text", ["meteor", "rouge", "bleu4", "cider", "chrf"])
def test_whole_weights_repeat_pairs_and_zero_leaves_them_out(text):
    texts = [
        [
            ("a dog runs", "a dog sat"),
            ("a red car", "the red car"),
            ("rain", "it rains"),
        ],
        [("it sits", "it sat there"), ("rain on a car", "rain")],
        [],
    ]
    features = FeatureCache([["a dog"]])
    scorer = pair_scorer(caption_metric(text))
    weights = np.array([[1, 2, 0, 1, 0], [1, 1, 1, 0, 0]])
    values = scorer.of_videos(pairs_of(features, texts), weights, features)
    assert values.shape == (2, 3)
    for row, counts in zip(values, weights):
        repeated = []
        first = 0
        for own in texts:
            times = counts[first : first + len(own)]
            first += len(own)
            repeated.append([p for p, n in zip(own, times) for _ in range(n)])
        pairs = pairs_of(features, repeated)
        ones = np.ones((1, len(pairs.hyps)), dtype=int)
        expected = scorer.of_videos(pairs, ones, features)[0]
        assert row == pytest.approx(expected, abs=1e-12)
    # no pair at all
    assert values[0, 2] == values[1, 1] == 0.0


def test_metrics_of_more_than_two_texts_are_refused():
    for text in ("clipscore", "dense", "trm"):
        with pytest.raises(HarnessError, match="expected text: meteor"):
            caption_metric(text)
