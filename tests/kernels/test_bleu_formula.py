"""BLEU of word lists."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caption_kernels_reference.bleu import count_matches, sentence_bleu
from tests.support.bleu_formula import smoothed_bleu

words = st.lists(st.sampled_from(["a", "dog", "runs", "the"]), max_size=9)


def test_counts_are_clipped_at_the_largest_count_in_one_reference():
    assert count_matches(["a", "a", "a", "b"], [["a", "a"], ["a", "b", "b"]]) == (
        [3, 2, 0, 0],
        [4, 3, 2, 1],
        4,
        3,
    )


def test_the_shorter_of_two_equally_close_references_gives_the_length():
    assert count_matches(["a"] * 3, [["a"] * 4, ["a"] * 2]).reference_length == 2


def test_sentence_bleu_is_the_geometric_mean_of_precisions_times_the_brevity_penalty():
    stats = count_matches(["the", "dog", "runs"], [["the", "dog", "sat", "on"]])
    assert sentence_bleu(stats, 2) == pytest.approx(
        math.sqrt(2 / 3 * 1 / 2) * math.exp(1 - 4 / 3), abs=1e-8
    )


@given(words)
def test_a_text_of_four_words_or_more_scores_one_against_itself(text):
    expected = 1.0 if len(text) >= 4 else sentence_bleu(count_matches(text, [text]))
    assert sentence_bleu(count_matches(text, [text])) == pytest.approx(
        expected, abs=1e-8
    )
    assert smoothed_bleu(count_matches(text, [text])) == 1.0


@given(words, st.lists(words, min_size=1, max_size=3), st.integers(1, 4))
def test_scores_are_in_the_unit_interval(hyp, refs, n):
    stats = count_matches(hyp, refs)
    assert 0.0 <= sentence_bleu(stats, n) <= 1.0 + 1e-8
    assert 0.0 <= smoothed_bleu(stats, n) <= 1.0


def test_an_empty_hypothesis_scores_one_only_against_an_empty_reference():
    assert smoothed_bleu(count_matches([], [[]])) == 1.0
    assert smoothed_bleu(count_matches([], [["a"]])) == 0.0
