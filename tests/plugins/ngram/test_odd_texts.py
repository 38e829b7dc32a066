"""BLEU, ROUGE-L and CIDEr on arbitrary texts: finite scores, valid distances, the same
digits in any order of work.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.ngram import bleu, cider, rouge

DISTANCES = [bleu.BleuDistance, rouge.RougeDistance, cider.CiderDistance]
METRICS = [bleu.Bleu, rouge.Rouge, cider.Cider, cider.CiderD]
ODD = [
    "",
    " ",
    "a",
    "a  b",
    "a b",
    "...",
    "!?",
    "🐶 🐶",
    "e\u0301",
    "nul\x00here",
    "\u2028",
    "\ud800",
]
ODD.append("\u200f\u05e9\u05dc\u05d5\u05dd")  # right to left


@pytest.mark.parametrize("kind", DISTANCES)
@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text(max_size=12), min_size=2, max_size=5))
def test_distances_of_any_texts_are_valid(batch_of, kind, texts):
    features, batch = batch_of([[*texts, texts[0]]], 1)
    # raises unless finite, non-negative and d(x, x) = 0
    matrices = features.distances(kind(tokenizer="none"), batch)
    assert matrices[0, 0, -1] == 0  # the first text again


@pytest.mark.parametrize("kind", DISTANCES)
def test_odd_texts_have_finite_distances(batch_of, kind):
    features, batch = batch_of([ODD], 1)
    assert np.isfinite(features.distances(kind(tokenizer="none"), batch)).all()


@pytest.mark.parametrize("kind", METRICS)
def test_odd_texts_have_finite_scores_and_nulls(batch_of, kind):
    features, batch = batch_of([ODD, ODD[::-1]], 5)
    metric = kind(tokenizer="none")
    state = metric.fit(features.references, features)
    assert np.isfinite(metric.stats(batch, features, state)).all()
    labels = np.arange(len(ODD)) % 3 == np.arange(3)[:, None]
    assert np.isfinite(metric.null(batch, features, state, labels)).all()


@pytest.mark.parametrize("kind", DISTANCES)
def test_texts_of_ten_thousand_words_have_positive_distances(batch_of, kind):
    rng = np.random.default_rng(1)
    long = [
        " ".join(rng.choice(["a", "b", "c", "dog", "runs"], size=size))
        for size in (10_000, 9_000)
    ]
    features, batch = batch_of([[long[0], "a dog runs", long[1]]], 1)
    matrices = features.distances(kind(tokenizer="none"), batch)
    assert (matrices[0][~np.eye(3, dtype=bool)] > 0).all()


@pytest.mark.parametrize("kind", METRICS)
def test_the_order_in_which_texts_are_indexed_changes_no_digit(kind):
    rng = np.random.default_rng(3)
    texts = [
        [" ".join(rng.choice(list("abcdefg"), 9)) for _ in range(5)] for _ in range(40)
    ]
    sets = [
        CaptionSet(str(i), tuple(row[:2]), tuple(row[2:]))
        for i, row in enumerate(texts)
    ]
    references = [item.references for item in sets]

    def scores(part, indexed_before):
        features = FeatureCache(references)
        metric = kind(tokenizer="none")
        for other in indexed_before:
            metric.stats(
                features.batch([other]), features, metric.fit(references, features)
            )
        return metric.stats(
            features.batch(part), features, metric.fit(references, features)
        )

    before = [CaptionSet("0", ("g f e d c b a",), ("z",)), sets[30]]
    shards = [scores(sets[:20], before), scores(sets[20:], before)]
    assert np.array_equal(scores(sets, []), np.concatenate(shards))


@pytest.mark.parametrize("module", [bleu, cider, rouge])
def test_no_texts_have_an_empty_matrix(module):
    assert module.matrix([], tokenizer="none").shape == (0, 0)
