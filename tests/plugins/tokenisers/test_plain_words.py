"""Plain words: runs of letters and digits, joined runs, marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.tokenisers.plain_words import plain_words

TEXT = "The dog's WELL-worn snake_case ball: 2.5 m, l’été"


@pytest.mark.parametrize(
    ("joiners", "marks", "expected"),
    [
        ("", False, "the dog s well worn snake case ball 2 5 m l été"),
        ("'", False, "the dog's well worn snake case ball 2 5 m l été"),
        ("'’-", False, "the dog's well-worn snake case ball 2 5 m l’été"),
        ("", True, "the dog ' s well - worn snake case ball : 2 . 5 m , l ’ été"),
        ("'-", True, "the dog's well-worn snake case ball : 2 . 5 m , l ’ été"),
    ],
)
def test_joiners_and_marks_select_the_words(joiners, marks, expected):
    assert plain_words(TEXT, joiners=joiners, marks=marks) == expected.split(" ")


def test_a_joiner_joins_only_between_two_runs():
    assert plain_words("'tis dogs' --a-- a--b", joiners="'-") == [
        "tis",
        "dogs",
        "a",
        "a",
        "b",
    ]


@given(st.text(), st.sampled_from(["", "'", "'’-", "]^\\"]))
def test_words_are_letters_digits_and_joiners_in_their_order(text, joiners):
    words = plain_words(text, joiners=joiners)
    assert all(word[0].isalnum() and word[-1].isalnum() for word in words)
    letters = [c for c in text.lower() if c.isalnum()]
    assert [c for word in words for c in word if c not in joiners] == letters


@given(st.text())
def test_marks_are_everything_but_white_space_and_underscores(text):
    expected = [c for c in text.lower() if not c.isspace() and c != "_"]
    assert list("".join(plain_words(text, marks=True))) == expected
