"""Distances from n-gram metrics: zero diagonal, never negative, finite, whatever the texts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, UnknownName
from harness.plugins.ngram import bleu, cider, rouge
from harness.run.features import FeatureCache

DISTANCES = [bleu.BleuDistance, rouge.RougeDistance, cider.CiderDistance]
METRICS = [bleu.Bleu, rouge.Rouge, cider.Cider, cider.CiderD]
ODD = ["", " ", "a", "a  b", "a b", "...", "!?", "🐶 🐶", "e\u0301", "nul\x00here", "\u2028", "\ud800"]
ODD.append("\u200f\u05e9\u05dc\u05d5\u05dd")  # right to left
anything = st.lists(st.text(max_size=12), min_size=2, max_size=5)


def one(texts, n=1, repeat=1):
    sets = [CaptionSet(str(i), tuple(texts[:n]), tuple(texts[n:])) for i in range(repeat)]
    features = FeatureCache([item.references for item in sets])
    return features, features.batch(sets)


@pytest.mark.parametrize("kind", DISTANCES)
@settings(max_examples=50, deadline=None)
@given(anything)
def test_any_texts_pass_the_engine_check(kind, texts):
    features, batch = one([*texts, texts[0]])
    matrices = features.distances(kind(tokenizer="none"), batch)  # raises where negative, not finite or d(x, x) != 0
    assert matrices[0, 0, -1] == 0  # the same text twice


@pytest.mark.parametrize("kind", DISTANCES)
def test_odd_texts_have_distances_and_scores(kind):
    features, batch = one(ODD)
    assert np.isfinite(features.distances(kind(tokenizer="none"), batch)).all()


@pytest.mark.parametrize("kind", METRICS)
def test_odd_texts_have_scores_and_nulls(kind):
    features, batch = one(ODD, n=5)
    metric = kind(tokenizer="none")
    state = metric.fit(features.references, features)
    stats = metric.stats(batch, features, state)
    assert np.isfinite(stats).all()
    labels = np.arange(len(ODD)) % 3 == np.arange(3)[:, None]
    assert np.isfinite(metric.null(batch, features, state, labels)).all()


def test_ten_thousand_words_against_short_and_long_ones():
    rng = np.random.default_rng(1)
    huge = [" ".join(rng.choice(["a", "b", "c", "dog", "runs"], size=size)) for size in (10_000, 9_000)]
    features, batch = one([huge[0], "a dog runs", huge[1]])
    for kind in DISTANCES:
        matrices = features.distances(kind(tokenizer="none"), batch)
        assert (matrices[0][~np.eye(3, dtype=bool)] > 0).all()


def test_short_identical_captions_are_at_distance_zero_though_their_cider_is_below_ten():
    features, batch = one(["a dog", "a dog", "a cat"], repeat=2)
    scores = cider.Cider(tokenizer="none").fit(features.references, features).matrices(batch, features)
    assert scores[0, 0, 1] < 10
    assert features.distances(cider.CiderDistance(tokenizer="none"), batch)[0, 0, 1] == 0


def test_one_image_gives_cider_zero():
    features, batch = one(["a dog runs fast", "a dog runs fast"])
    metric = cider.Cider(tokenizer="none")
    assert metric.stats(batch, features, metric.fit(features.references, features))[0, 0] == 0


def test_shards_intern_in_another_order_and_give_the_same_digits():
    rng = np.random.default_rng(3)
    sets = [
        CaptionSet(str(i), *(tuple(" ".join(rng.choice(list("abcdefg"), 9)) for _ in range(k)) for k in (2, 3)))
        for i in range(40)
    ]
    for metric in (cider.Cider(tokenizer="none"), bleu.Bleu(tokenizer="none"), rouge.Rouge(tokenizer="none")):
        whole, shards = [], []
        for parts, out in (([sets], whole), ([sets[20:], sets[:20]], shards)):
            for part in parts:
                features = FeatureCache([item.references for item in sets])
                if out is shards:
                    features.intern(["g f e d c b a", "z"])
                    metric.stats(features.batch(part[:1]), features, metric.fit(features.references, features))
                out.append(metric.stats(features.batch(part), features, metric.fit(features.references, features)))
        assert np.array_equal(np.concatenate(whole), np.concatenate(shards[::-1]))


def test_a_fitted_state_travels_to_another_process():
    features, batch = one(["a dog", "a dog runs", "a cat"], repeat=3)
    metric = cider.Cider(tokenizer="none")
    state = metric.fit(features.references, features)
    expected = metric.stats(batch, features, state)
    there = FeatureCache(features.references)
    assert np.array_equal(metric.stats(there.batch(batch.sets), there, pickle.loads(pickle.dumps(state))), expected)


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: bleu.Bleu(n=5), HarnessError, "expected 1, 2, 3 or 4"),
        (lambda: bleu.Bleu(tokenizer="pbt"), UnknownName, "did you mean 'ptb'"),
        (lambda: bleu.matrix(["a"], tokenizer="none", smoothing="x"), HarnessError, "add-one"),
        (lambda: cider.Cider(variant="x"), HarnessError, "'d' or 'plain'"),
        (lambda: cider.Cider(df="refrences"), InputError, "did you mean 'references'"),
        (lambda: cider.Cider(df=[]), InputError, "no documents"),
        (lambda: cider.Cider(df=["a", "b"]), InputError, "document 0"),
        (lambda: cider.Cider(df=[["a", 3]]), InputError, "3; expected a text"),
        (lambda: cider.matrix(["a"], df="references", tokenizer="none"), HarnessError, "no task"),
    ],
)
def test_mistakes_are_told_in_one_line(make, error, words):
    with pytest.raises(error, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_distance_without_references_says_so():
    features = FeatureCache()
    batch = features.batch([CaptionSet("0", ("a",), ("b",))])
    with pytest.raises(HarnessError, match="need references"):
        features.distances(cider.CiderDistance(tokenizer="none"), batch)


def test_no_text_gives_an_empty_matrix():
    assert [module.matrix([], tokenizer="none").shape for module in (bleu, cider, rouge)] == [(0, 0)] * 3
