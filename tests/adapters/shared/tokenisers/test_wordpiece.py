"""WordPiece of BERT."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_models.shared.tokenisers.wordpiece import SPECIAL, WordPiece, vocabulary_of

TEXTS = ["a medium-sized ball", "a red ball", "the ball is red."]


def test_frequent_words_are_one_piece_and_other_words_are_spelt(tmp_path):
    words = vocabulary_of(TEXTS, 100)
    assert tuple(words[:5]) == SPECIAL
    assert words[-5:] == ["red", "is", "medium", "sized", "the"]
    assert words == vocabulary_of(reversed(TEXTS), 100)
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    tokeniser = WordPiece(tmp_path)
    assert tokeniser.pieces(tokeniser.encode("the red bell.")) == (
        "the",
        "red",
        "b",
        "##e",
        "##l",
        "##l",
        ".",
    )
    assert (
        tokeniser.decode(tokeniser.encode("a medium-sized bell"))
        == "a medium - sized bell"
    )


def test_a_small_vocabulary_keeps_the_most_frequent_words():
    room = len(vocabulary_of(TEXTS, 100)) - 4
    assert vocabulary_of(TEXTS, room)[-2:] == ["ball", "red"]
    with pytest.raises(
        InputError, match="a vocabulary of 10 pieces has no room for the"
    ):
        vocabulary_of(TEXTS, 10)


def test_special_tokens_have_the_ids_of_their_lines(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\n" + "\n".join(SPECIAL) + "\n")
    tokeniser = WordPiece(tmp_path / "vocab.txt")
    assert tokeniser.special() == {name: i for i, name in enumerate(SPECIAL, 1)}
    assert len(tokeniser) == 6
    assert tokeniser.pieces(tokeniser.encode("A")) == ("[UNK]",)
    assert WordPiece(tmp_path, lower=True).encode("A") == [0]


def test_a_vocabulary_that_is_missing_or_lacks_special_tokens_is_refused(tmp_path):
    with pytest.raises(
        InputError,
        match="vocab.txt: no such WordPiece vocabulary .expected BERT's vocab.txt",
    ):
        WordPiece(tmp_path)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n")
    with pytest.raises(InputError, match=r"no \[SEP\], \[MASK\] in this vocabulary"):
        WordPiece(tmp_path)
