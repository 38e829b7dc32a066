"""Weighted sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet, Objects
from harness.run.features import FeatureCache
from harness_metrics.crnrr.words import (
    CaptionWords,
    Vocabulary,
    changes,
    grams_of,
    pack,
    per_unit,
    sentence_lengths,
    sides_of,
    sort_order,
    weigh_units,
    word_hash,
    words_of,
)
from tests.support.ngram_values import cr_nrr_cnd

# --------------------------------------------------------------------------- words of captions
# Captions as words of a corpus.


class Plain(CaptionWords):
    tokenizer = "none"


texts = st.lists(st.text("ab ", max_size=6), min_size=2, max_size=2).map(tuple)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_each_side_has_its_sentences_in_order(items):
    sets = [
        CaptionSet(str(k), candidates, references)
        for k, (candidates, references) in enumerate(items)
    ]
    for side, words in enumerate(sides_of(collect(sets))):
        sentences = [text.split() for item in items for text in item[side]]
        assert sentence_lengths(words).tolist() == list(map(len, sentences))
        assert words.unit.tolist() == [
            row for row in range(len(items)) for _ in range(2)
        ]


def collect(sets):
    features = FeatureCache()
    return Objects.of(Plain().collect(features.batch(sets), features, None), "words")


def test_equal_words_have_equal_ids():
    q, p = sides_of(collect([CaptionSet("1", ("a b a",), ("b c",))]))
    assert q.ids[0] == q.ids[2] != q.ids[1]
    assert q.ids[1] == p.ids[0] != p.ids[1]


def test_hashes_are_whole_numbers_that_do_not_change():
    assert word_hash("dog") == word_hash("dog") != word_hash("cat")
    assert 0 <= word_hash("dog") < 2**63
    assert np.array([word_hash("dog")]).dtype == np.int64


# ---------------------------------------------------------------------------

# --------------------------------------------------------------------------- counting
# Words and keys of n-grams.


def test_a_word_has_one_id_in_all_corpora():
    vocabulary = Vocabulary()
    assert vocabulary.ids([["a", "b"], ["a"]], 3).tolist() == [0, 1, 0]
    assert vocabulary.ids([["c", "b"]], 2).tolist() == [2, 1]


@given(st.integers(1, 5), st.data())
def test_keys_are_ordered_as_their_words(order, data):
    ids = st.lists(st.integers(0, 2**32 - 1), min_size=order, max_size=order)
    grams = data.draw(st.lists(ids, min_size=1, max_size=8))
    keys = pack([np.array(column) for column in zip(*grams)])
    assert keys.shape == (-(-order // 2), len(grams))
    indices = sort_order(keys)
    assert [grams[index] for index in indices] == sorted(grams)
    ordered = sorted(grams)
    assert changes(keys[:, indices]).tolist() == [
        k == 0 or ordered[k] != ordered[k - 1] for k in range(len(grams))
    ]


# --------------------------------------------------------------------------- words

RNG = np.random.default_rng(4)


def sentences(count):
    return [RNG.choice(list("abcd"), RNG.integers(1, 7)).tolist() for _ in range(count)]


@pytest.mark.equal_bits
def test_weighted_sentences_equal_repeated_sentences():
    q = sentences(12)
    p = sentences(12)
    weights = RNG.integers(0, 3, (4, 12))
    vocabulary = Vocabulary()
    grams_q, grams_p = grams_of([words_of(q, vocabulary), words_of(p, vocabulary)], 2)
    for row, result in zip(
        weights, weigh_units(grams_q, grams_p, 2, weights, np.ones((4, 12)))
    ):
        repeated = [sentence for sentence, times in zip(q, row) for _ in range(times)]
        expected = cr_nrr_cnd(repeated, p, 2)
        assert result == expected


def test_weights_must_be_whole_numbers():
    grams = grams_of([words_of([["a", "b"]], Vocabulary())], 1)
    with pytest.raises(ValueError, match="whole numbers"):
        weigh_units(grams[0], grams[0], 1, np.array([[0.5]]), np.array([[1.0]]))


def test_sums_per_unit():
    (grams,) = grams_of([words_of([["a", "a", "b"], ["a"], []], Vocabulary())], 1)
    totals, within, squares = per_unit(grams, 3)
    assert (totals.tolist(), within.tolist(), squares.tolist()) == (
        [3, 1, 0],
        [5, 1, 0],
        [9, 1, 0],
    )
