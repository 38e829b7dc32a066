"""Word list of TVT."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_models.tvt.model import BOS, EOS, PAD, SPECIAL, UNK
from harness_models.tvt.word_list import WordList

WORDS = WordList([*SPECIAL, "a", "dog", "runs"])


def test_words_are_ordered_by_frequency_then_spelling():
    assert WordList.of(["B a", "c b", "c"]).words[4:] == ["b", "c", "a"]
    assert WordList.of(["B a", "c b", "c"], minimum=2).words[4:] == ["b", "c"]


@given(st.lists(st.sampled_from(["a", "dog", "runs"])))
def test_known_words_come_back(words):
    assert WORDS.decode([BOS, *WORDS.encode(" ".join(words)), EOS, PAD]) == " ".join(words)


def test_unknown_words_are_unk():
    assert WORDS.encode("A cat") == [4, UNK]
    assert WORDS.decode([UNK]) == "<unk>"


def test_lists_without_the_special_words_are_refused():
    with pytest.raises(InputError, match="a word list begins with"):
        WordList(["a", "b"])
