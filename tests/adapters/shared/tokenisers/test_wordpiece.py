"""WordPiece vocabularies made of captions."""

from __future__ import annotations

import pytest

from harness.adapters.shared.tokenisers.wordpiece import SPECIAL, WordPiece, vocabulary_of
from harness.errors import InputError

TEXTS = ["a medium-sized ball", "a red ball", "the ball is red."]


def test_frequent_words_are_whole_and_every_word_can_be_spelt(tmp_path):
    words = vocabulary_of(TEXTS, 100)
    assert tuple(words[:5]) == SPECIAL
    assert words[-5:] == ["red", "is", "medium", "sized", "the"]
    assert words == vocabulary_of(reversed(TEXTS), 100)
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    found = WordPiece(tmp_path)
    assert found.pieces(found.encode("the red bell.")) == ("the", "red", "b", "##e", "##l", "##l", ".")
    assert found.decode(found.encode("a medium-sized bell")) == "a medium - sized bell"


def test_a_small_vocabulary_keeps_the_most_frequent_words():
    room = len(vocabulary_of(TEXTS, 100)) - 4
    assert vocabulary_of(TEXTS, room)[-2:] == ["ball", "red"]
    with pytest.raises(InputError, match="a vocabulary of 10 pieces has no room for the"):
        vocabulary_of(TEXTS, 10)
