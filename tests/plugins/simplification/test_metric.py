"""``sari`` as a metric: contract with sources, tokenisers,
examples without a source.
."""

import sys
from dataclasses import replace

import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, MissingExtra
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness.testing.sample_captions import SCENES, caption_sets
from harness_metrics.simplification.metric import Sari
from harness_metrics.simplification.sari import sari

SETS = [
    replace(item, source=scene[7]) for item, scene in zip(caption_sets(3, 3), SCENES)
]


@parametrize_with_checks([Sari(), Sari(tokenizer="none", lowercase=False)], sets=SETS)
def test_contract(check):
    check()


def scores(metric, sets):
    features = FeatureCache([item.references for item in sets])
    return metric.scores(features.batch(sets), features, None)


def test_the_score_is_the_mean_over_candidates():
    item = CaptionSet(
        "x", ("A cat.", "the dog"), ("a cat", "the cat"), source="a black cat"
    )
    words = [
        text.split()
        for text in ("a black cat", "a cat .", "the dog", "a cat", "the cat")
    ]
    expected = (
        sari(words[0], words[1], words[3:]) + sari(words[0], words[2], words[3:])
    ) / 2
    assert scores(Sari(), [item]) == pytest.approx([expected])
    assert scores(Sari(tokenizer="intl"), [item]) == pytest.approx([expected])
    assert scores(Sari(tokenizer="none"), [item]) != pytest.approx([expected])


def test_errors():
    with pytest.raises(
        InputError,
        match="metric 'sari' compares with a source text, and the example 'x' has none",
    ):
        scores(Sari(), [CaptionSet("x", ("a",), ("a",))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "sacrebleu", None)
        assert Sari(tokenizer="none").tokenizer == "none"
        with pytest.raises(MissingExtra, match="sacrebleu"):
            Sari()
    with pytest.raises(
        HarnessError, match="tokenizer is '13b'; .*; did you mean '13a'"
    ):
        Sari(tokenizer="13b")
