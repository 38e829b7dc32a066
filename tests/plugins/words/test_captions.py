"""Captions as words of a corpus."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import CaptionSet, Objects
from harness.run.features import FeatureCache
from harness_metrics.words.captions import CaptionWords, sides_of, word_hash
from harness_metrics.words.grams import sentence_lengths

texts = st.lists(st.text("ab ", max_size=6), min_size=2, max_size=2).map(tuple)
RNG = np.random.default_rng(4)


class Plain(CaptionWords):
    tokenizer = "none"


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


def sentences(count):
    return [RNG.choice(list("abcd"), RNG.integers(1, 7)).tolist() for _ in range(count)]
