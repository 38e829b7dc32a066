"""Word list of TVT."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_models.shared.tokenisers.word_list import frequent_words
from harness_models.tvt.model import BOS, EOS, PAD, SPECIAL, UNK, TvtWords

WORDS = TvtWords([*SPECIAL, "a", "dog", "runs"])


def test_words_are_ordered_by_frequency_then_spelling():
    texts = [TvtWords.split(text) for text in ("B a", "c b", "c")]
    assert frequent_words(texts, 1, SPECIAL)[4:] == ["b", "c", "a"]
    assert frequent_words(texts, 2, SPECIAL)[4:] == ["b", "c"]


@given(st.lists(st.sampled_from(["a", "dog", "runs"])))
def test_known_words_come_back(words):
    assert WORDS.decode([BOS, *WORDS.encode(" ".join(words)), EOS, PAD]) == " ".join(
        words
    )


def test_unknown_words_are_unk():
    assert WORDS.encode("A cat") == [4, UNK]
    assert WORDS.decode([UNK]) == "<unk>"


def test_lists_without_the_special_words_are_refused():
    with pytest.raises(InputError, match="a word list begins with"):
        TvtWords(["a", "b"])
