"""Porter stems against NLTK's (golden/rouge_score), and the words of rouge_score."""

from __future__ import annotations

import gzip

import pytest

from harness_metrics.tokenisers.porter import IRREGULAR, porter_stem
from harness_metrics.tokenisers.rouge_words import rouge_stems, rouge_words


def test_stems_equal_those_of_nltk(golden):
    lines = (
        gzip.decompress((golden / "rouge_score" / "stems.txt.gz").read_bytes())
        .decode()
        .splitlines()
    )
    assert len(lines) == 6000
    pairs = [line.split(" ") for line in lines]
    assert [(word, porter_stem(word)) for word, _ in pairs] == [
        (word, stem) for word, stem in pairs
    ]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("skies", "sky"),
        ("dies", "die"),
        ("died", "die"),
        ("enjoy", "enjoy"),
        ("spy", "spi"),
        ("geology", "geolog"),
        ("as", "as"),
        ("s", "s"),
    ],
)
def test_words_of_the_extensions(word, stem):
    assert porter_stem(word) == stem


def test_irregular_words_have_stems_of_their_own():
    assert {word: porter_stem(word) for word in IRREGULAR} == IRREGULAR


def test_words_are_runs_of_ascii_letters_and_digits_and_short_ones_are_not_stemmed():
    assert rouge_words("The dog's_CAFÉ\n3.5 İstanbul") == "the dog s caf 3 5 i stanbul"
    assert rouge_stems("gas was dies Running") == "gas was die run"
    assert (rouge_words("狗!"), rouge_stems("")) == ("", "")
