"""Words and stems of rouge_score."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.tokenisers.porter import porter_stem
from harness_metrics.tokenisers.rouge_words import rouge_stems, rouge_words


def test_words_are_runs_of_ascii_letters_and_digits_and_short_ones_are_not_stemmed():
    assert rouge_words("The dog's_CAFÉ\n3.5 İstanbul") == "the dog s caf 3 5 i stanbul"
    assert rouge_stems("gas was dies Running") == "gas was die run"
    assert (rouge_words("狗!"), rouge_stems("")) == ("", "")


def test_words_of_four_letters_are_the_shortest_that_are_stemmed():
    assert porter_stem("was") != "was"
    assert rouge_stems("was does") == f"was {porter_stem('does')}"


def test_a_letter_whose_lower_case_is_ascii_is_a_letter():
    assert rouge_words("5 \N{KELVIN SIGN}") == "5 k"


@given(st.text())
def test_words_are_those_of_the_text_and_stay(text):
    words = rouge_words(text)
    assert re.fullmatch(r"([a-z0-9]+( [a-z0-9]+)*)?", words)
    assert words.replace(" ", "") == re.sub("[^a-z0-9]", "", text.lower())
    assert rouge_words(words) == words
    assert len(rouge_stems(text).split()) == len(words.split())
