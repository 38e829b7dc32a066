"""CIDEr and CIDEr-D of word lists."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cider_formula import (
    SCALE,
    document_frequencies,
    pair_score,
    score,
    vectors,
)

words = st.lists(st.sampled_from(["a", "dog", "runs", "the", "cat"]), max_size=9)
DOCUMENTS = [[["a", "dog"], ["a"]], [["a", "cat"]], [["the", "cat", "sat"]]]
DF = document_frequencies(DOCUMENTS)


def test_documents_with_an_n_gram_are_counted_once():
    assert (
        DF["a",],
        DF["cat",],
        DF["a", "dog"],
        DF["the", "cat", "sat"],
        DF["dog", "a"],
    ) == (2, 2, 1, 1, 0)


def test_weights_are_counts_times_the_log_of_the_inverse_document_frequency():
    unigrams, bigrams, *rest = vectors(["a", "dog", "a", "new"], DF, 3)
    assert unigrams == {
        ("a",): pytest.approx(2 * math.log(3 / 2)),
        ("dog",): pytest.approx(math.log(3)),
        ("new",): pytest.approx(math.log(3)),  # df 0 weighs as df 1
    }
    assert bigrams["a", "dog"] == pytest.approx(math.log(3))
    assert [len(order) for order in rest] == [2, 1]


def test_a_score_is_the_mean_cosine_of_the_orders_times_the_length_penalty():
    hyp = ["a", "dog"]
    ref = ["a", "dog", "sat"]
    a = math.log(3 / 2)
    dog = math.log(3)
    sat = math.log(3)
    cosines = (a**2 + dog**2) / math.hypot(a, dog) / math.hypot(
        a, dog, sat
    ) + 1 / math.sqrt(2)
    assert pair_score(hyp, ref, DF, 3, plain=True) == pytest.approx(10 * cosines / 4)
    assert pair_score(hyp, ref, DF, 3) == pytest.approx(
        10 * cosines / 4 * math.exp(-1 / 72)
    )


@given(words, words, st.booleans())
def test_scores_are_between_zero_and_ten(hyp, ref, plain):
    assert -1e-9 <= pair_score(hyp, ref, DF, 3, plain=plain) <= SCALE + 1e-9


def test_four_words_score_ten_against_themselves_and_clipping_lowers_repetitions():
    text = ["the", "dog", "sat", "down"]
    assert pair_score(text, text, DF, 3) == pytest.approx(SCALE)
    assert pair_score(text * 3, text, DF, 3) < pair_score(
        text * 3, text, DF, 3, plain=True
    )


def test_with_one_document_every_score_is_zero():
    text = ["the", "dog", "sat", "down"]
    assert pair_score(text, text, document_frequencies([[text]]), 1) == 0.0


def test_the_score_of_several_references_is_their_mean():
    hyp = ["the", "dog"]
    refs = [["the", "dog"], ["a", "dog"]]
    assert (
        score(hyp, refs, DF, 3)
        == (pair_score(hyp, refs[0], DF, 3) + pair_score(hyp, refs[1], DF, 3)) / 2
    )
