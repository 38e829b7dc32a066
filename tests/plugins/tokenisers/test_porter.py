"""Porter stems against NLTK's (golden/rouge_score), and the words of rouge_score."""

from __future__ import annotations

import gzip

import pytest

from harness_metrics.tokenisers.porter import IRREGULAR, porter_stem


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
