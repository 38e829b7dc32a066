"""The words of the agents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness_models.a3ds.vocabulary import END, PAD, START, WORDS, Vocabulary


def test_vocabulary_is_the_published_one(golden):
    table = json.loads((golden.parent / "a3ds/vocab.json").read_text())
    assert {word: number for number, word in enumerate(WORDS)} == table


def test_hyphens_case_and_unknown_words():
    words = Vocabulary()
    ids = words.encode("A medium-sized Zebra.")
    assert words.decode(ids) == "a medium sized unk unk"
    assert words.encode("a " * 50, 25)[-1] == END
    assert len(words.encode("a " * 50, 25)) == 25


@given(st.lists(st.sampled_from(WORDS[4:]), max_size=23))
def test_known_words_come_back(words):
    ids = Vocabulary().encode(" ".join(words))
    assert (ids[0], ids[-1]) == (START, END)
    assert Vocabulary().decode([*ids, PAD, 4]) == " ".join(words)


def test_vocabularies_without_the_special_words_are_refused():
    with pytest.raises(HarnessError, match="vocabulary begins with"):
        Vocabulary(("a", "b"))


@pytest.fixture(scope="module")
def golden(golden):
    return golden / "a3ds_lstm"
