"""METEOR of NLTK by hand."""

from __future__ import annotations

import pytest

from harness_metrics.dense.nltk_meteor import NltkMeteor, count_chunks, take_matches
from harness_metrics.dense.wordnet import installed_wordnet


@pytest.fixture
def meteor(small_wordnet):
    return NltkMeteor(installed_wordnet())


def test_equal_texts_have_one_chunk(meteor):
    # five matches in one chunk: 1 - .5 / 125
    text = "the sofa is very big"
    assert meteor.best_score(text, [text]) == pytest.approx(0.996)
    assert meteor.best_score(text.upper(), [text]) == pytest.approx(0.996)


def test_stems_and_synonyms_match_behind_equal_words(meteor):
    # three matches, one each: equal, stem, synonym
    score = meteor.best_score("the couch runs", ["the sofa running"])
    assert score == pytest.approx(1 - 0.5 / 27)
    assert meteor.best_score("couch", ["zebra"]) == 0.0


def test_precision_and_recall_weigh_one_to_nine(meteor):
    # two of four words, two of two: chunk "a dog"
    precision, recall = 0.5, 1.0
    f_mean = precision * recall / (0.9 * precision + 0.1 * recall)
    score = meteor.best_score("a dog sits there", ["a dog"])
    assert score == pytest.approx(f_mean * (1 - 0.5 / 8))


def test_words_are_matched_from_the_end():
    free, others = [(0, "a"), (1, "a")], [(0, "a"), (1, "b"), (2, "a")]
    matches = take_matches(free, others, lambda word, other: word == other)
    assert matches == [(1, 2), (0, 0)]
    assert (free, others) == ([], [(1, "b")])


def test_chunks_are_neighbours_in_both_texts():
    assert count_chunks([(0, 0)]) == 1
    assert count_chunks([(2, 1), (0, 0), (1, 2)]) == 3
    assert count_chunks([(3, 4), (0, 0), (1, 1), (2, 3)]) == 2


def test_the_best_reference_counts_and_nothing_is_zero(meteor):
    references = ["zebra", "a dog"]
    assert meteor.best_score("a dog", references) == pytest.approx(1 - 0.5 / 8)
    assert meteor.best_score("", references) == 0.0
    assert "nltk-3.5|wordnet-3.0-" in meteor.signature
