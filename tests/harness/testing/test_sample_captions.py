"""The sample captions of the checks."""

from __future__ import annotations

import pytest

from harness.testing.sample_captions import (
    NONSENSE,
    SCENES,
    UNUSUAL_TEXTS,
    caption_sets,
    examples,
    repeat_to,
    with_candidates,
)


def test_all_captions_differ():
    texts = [text for scene in SCENES for text in scene]
    assert len(set(texts)) == len(texts) == 48


def test_nonsense_shares_no_word_with_a_scene():
    words = {
        word.strip(",") for scene in SCENES for text in scene for word in text.split()
    }
    assert not words & {word for text in NONSENSE for word in text.split()}


def test_caption_sets_have_the_requested_shape():
    sets = caption_sets(2, 5, count=3)
    assert [(item.id, len(item.candidates), len(item.references)) for item in sets] == [
        ("scene-0", 2, 5),
        ("scene-1", 2, 5),
        ("scene-2", 2, 5),
    ]
    assert not set(sets[0].candidates) & set(sets[0].references)
    with pytest.raises(
        ValueError, match=r"a scene has 8 captions; expected at least 5 \+ 4"
    ):
        caption_sets(5, 4)


def test_examples_have_their_first_reference_as_source():
    items = examples(m=2, count=2)
    assert [len(item.references) for item in items] == [2, 2]
    assert all(item.source == item.references[0] for item in items)


def test_candidates_are_replaced_in_turn():
    item = with_candidates(caption_sets()[0], ["x", "y"])
    assert item.candidates == ("x", "y", "x")
    assert item.references == caption_sets()[0].references
    assert repeat_to(("a", "b"), 1) == ("a",)


def test_unusual_texts():
    assert set(UNUSUAL_TEXTS) == {
        "empty",
        "blank",
        "single word",
        "punctuation",
        "unicode",
        "long",
    }
    assert not any(text.strip() for text in UNUSUAL_TEXTS["blank"])
    assert all(not text.isascii() for text in UNUSUAL_TEXTS["unicode"])
    assert len(UNUSUAL_TEXTS["long"][0].split()) > 300
