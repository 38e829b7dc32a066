"""Bags of words: counts, dimensions of words, texts of one example."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.contracts import Embedding, EncodesSets
from harness.errors import HarnessError
from harness_metrics.embeddings.bow import BagOfWords, hash_word
from harness_metrics.tokenisers.plain_words import plain_words

FEW = BagOfWords(dimensions=8)
"""So few dimensions that words share one."""
EIGHT = {
    "one word each": [f"w{number}" for number in range(1, 9)],
    "two words each": [
        "a dog",
        "two cats",
        "red bus",
        "old men",
        "white snow",
        "birds fly",
        "his hat",
        "the end",
    ],
    "words with one hash": [
        "w28 a",
        "w147 b",
        "w61 c",
        "w123 d",
        "w57 e",
        "w173 f",
        "w103 g",
        "w135 h",
    ],
}
"""Eight texts without a common word."""


def test_a_vector_holds_the_counts_of_the_words_of_its_text():
    bow = BagOfWords()
    twice, cat, dogs = bow.encode(["a DOG, a dog", "cat", "the dog's dog"])
    assert sorted(twice[twice > 0].tolist()) == [2, 2]
    assert (float(twice @ cat), float(twice @ dogs)) == (0, 2), (
        "dog's is another word than dog"
    )
    assert isinstance(bow, Embedding) and isinstance(bow, EncodesSets)
    assert bow.signature() == "bow|hashed:4096" and FEW.signature() == "bow|hashed:8"


@given(st.lists(st.text("ab' .", max_size=12), min_size=1, max_size=6))
def test_rows_sum_to_the_number_of_words(texts):
    for bow, encode in itertools.product((BagOfWords(), FEW), ("encode", "encode_set")):
        vectors = getattr(bow, encode)(texts)
        assert vectors.dtype == np.float32 and vectors.shape == (
            len(texts),
            bow.dimensions,
        )
        assert vectors.sum(axis=1).tolist() == [
            len(plain_words(text, joiners="'")) for text in texts
        ]


def test_the_dimension_of_a_word_is_the_same_on_every_machine():
    assert [hash_word(word) % 4096 for word in ("dog", "cat", "straße")] == [
        3231,
        2095,
        1673,
    ]
    (column,) = np.flatnonzero(BagOfWords().encode(["dog"])[0])
    assert column == 3231


def test_the_words_of_an_example_have_a_dimension_each():
    words = [f"w{number}" for number in range(8)]
    assert np.count_nonzero(FEW.encode(words).sum(axis=0)) < 8, (
        "some of the words share a dimension"
    )
    assert (FEW.encode_set(words) @ FEW.encode_set(words).T).tolist() == np.eye(
        8
    ).tolist()


def test_words_beyond_the_dimensions_share_one():
    vectors = FEW.encode_set([f"w{number}" for number in range(20)])
    assert vectors.sum(axis=1).tolist() == [1] * 20 and (vectors.sum(axis=0) > 0).all()


@given(
    st.lists(st.text("abcdefghij ", max_size=9), min_size=2, max_size=6), st.randoms()
)
def test_the_order_of_the_texts_of_an_example_changes_no_vector(texts, random):
    order = random.sample(range(len(texts)), len(texts))
    assert (
        FEW.encode_set([texts[k] for k in order]).tolist()
        == FEW.encode_set(texts)[order].tolist()
    )


@given(
    st.lists(
        st.sampled_from(["a", "dog", "cat", "runs", "over", "the", "hill"]), max_size=9
    )
)
def test_an_example_without_shared_dimensions_has_the_vectors_of_its_texts_alone(words):
    texts = [" ".join(words), "a cat"]
    assert (
        BagOfWords().encode_set(texts).tolist() == BagOfWords().encode(texts).tolist()
    )


def test_without_a_dimension():
    with pytest.raises(HarnessError, match="at least one dimension; found 0"):
        BagOfWords(dimensions=0)


@pytest.mark.parametrize("texts", EIGHT.values(), ids=EIGHT)
@pytest.mark.parametrize(
    "name", ["mmd", "energy", "frechet", "mmdagg", "c2st", "mauve-kde"]
)
def test_texts_without_a_common_word_have_equal_labels(name, texts):
    metric = harness.metric(name, embedding="bow", p_value="exact")
    for candidates, references in ((texts[:4], texts[4:]), (texts[::2], texts[1::2])):
        assert metric([candidates], [references]).p_values.tolist() == [1.0]


@pytest.mark.parametrize(
    ("seed", "words", "length"), [(0, 2000, 8), (1, 300, 5), (2, 9000, 12)]
)
def test_data_sets_of_one_example_from_one_source_have_small_p_values_at_their_level(
    seed, words, length
):
    rng = np.random.default_rng(seed)
    metric = harness.metric("mmd", embedding="bow", p_value="exact")
    share = np.cumsum(1 / np.arange(1, words + 1))
    p_values = []
    for numbers in np.searchsorted(
        share / share[-1], rng.random((200, 10, length))
    ).tolist():
        texts = [" ".join(f"w{k}" for k in row) for row in numbers]
        p_values += metric([texts[:5]], [texts[5:]]).p_values.tolist()
    assert sum(p <= 0.05 for p in p_values) <= 22


def test_texts_without_words_are_zeros():
    assert not BagOfWords(dimensions=8).encode(["", "..."]).any()
    assert not BagOfWords(dimensions=8).encode_set(["", "..."]).any()
