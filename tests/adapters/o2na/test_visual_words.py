"""Visual words of a caption."""

from __future__ import annotations

from harness_models.o2na.visual_words import DETERMINERS, FUNCTION_WORDS, is_visual


def test_function_words_and_numbers_are_not_visual():
    assert [
        word
        for word in ["there", "are", "3", "dogs", "on", "the", "well-kept", "lawn"]
        if is_visual(word)
    ] == [
        "dogs",
        "well-kept",
        "lawn",
    ]


def test_function_words_are_lower_case_and_include_the_determiners():
    assert DETERMINERS < FUNCTION_WORDS
    assert all(word == word.lower() and not is_visual(word) for word in FUNCTION_WORDS)
