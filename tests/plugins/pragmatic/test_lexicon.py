"""Words for the features."""

from __future__ import annotations

import pytest

from harness_metrics.pragmatic import lexicon
from harness_tasks.a3ds.scene import PHRASES


@pytest.mark.parametrize("phrase", sorted(set(PHRASES[lexicon.ORIENTATION])))
def test_places_of_the_grammar_fit_the_orientations_with_that_phrase(phrase):
    values = [
        index
        for index, other in enumerate(PHRASES[lexicon.ORIENTATION])
        if other == phrase
    ]
    assert lexicon.orientations_of(phrase.split()) == lexicon.mask(*values)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a medium sized ball", []),
        ("the left", [13]),
        ("near the left side", [12]),
        ("left right", []),
    ],
)
def test_other_places(text, values):
    assert lexicon.orientations_of(text.split()) == lexicon.mask(*values)


def test_tables_hold_the_phrases_of_the_grammar():
    assert all(
        lexicon.HUES[phrase] == 1 << index
        for index, phrase in enumerate(PHRASES[lexicon.FLOOR])
    )
    assert all(
        lexicon.SHAPES[phrase] == 1 << index
        for index, phrase in enumerate(PHRASES[lexicon.SHAPE])
    )
    assert lexicon.HUES["blue"] == lexicon.mask(6, 7)
    assert lexicon.FILLERS & set(lexicon.NOUNS) == {"it", "can"}  # read as nouns


@pytest.mark.parametrize(
    ("words", "indices"),
    [
        (("minuscule", "teeny", "miniature"), (0,)),
        (("little",), (1,)),
        (("medium", "medium size"), (2,)),
        (("mid sized", "mid size", "average sized", "average size"), (2, 3)),
        (("middle size",), (3,)),
        (("enormous", "massive"), (6,)),
        (("gigantic", "colossal"), (7,)),
    ],
)
def test_other_words_for_sizes(words, indices):
    assert {lexicon.SCALES[word] for word in words} == {lexicon.mask(*indices)}
