"""Word lists."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_models.o2na.layers import BOS, EOS, MASK, PAD, UNK, VIS
from harness_models.o2na.word_list import SPECIAL, VideoWords, split_words
from harness_models.shared.tokenisers.word_list import frequent_words

WORDS = VideoWords([*SPECIAL, "a", "dog", "runs"])


def test_special_words_have_their_ids():
    assert [
        SPECIAL.index(word)
        for word in ("<pad>", "<unk>", "<bos>", "<eos>", "<mask>", "<vis>")
    ] == [PAD, UNK, BOS, EOS, MASK, VIS]


def test_rare_words_and_special_words_are_left_out():
    assert frequent_words([["dog", "<eos>", "a"], ["dog"]], 2, SPECIAL) == [
        *SPECIAL,
        "dog",
    ]


@given(st.lists(st.sampled_from(["a", "dog", "runs"])))
def test_known_words_come_back(words):
    assert WORDS.decode(WORDS.encode(" ".join(words))) == " ".join(words)


def test_text_ends_at_the_end_and_leaves_special_words_out():
    assert WORDS.decode([BOS, 6, MASK, 7, VIS, EOS, 8]) == "a dog"
    assert WORDS.decode([6, PAD, 7]) == "a"
    assert WORDS.encode("A cat!") == [6, UNK]


def test_punctuation_is_removed():
    assert split_words("A dog, ( - runs. )") == ["a", "dog", "runs"]


def test_files_with_lists_and_mappings(tmp_path):
    path = tmp_path / "words.json"
    path.write_text(json.dumps({str(i): word for i, word in enumerate(WORDS.words)}))
    assert VideoWords(path).words == WORDS.words
    path.write_text(json.dumps(["a", "b"]))
    assert len(VideoWords(path)) == 2


@pytest.mark.parametrize(
    "data, message",
    [
        ({"0": "a", "2": "b"}, "word ids are not 0 to 1"),
        ({"x": "a"}, "expected a list of words or a mapping"),
        (3, "expected a"),
    ],
)
def test_malformed_files_are_refused(tmp_path, data, message):
    path = tmp_path / "words.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=message):
        VideoWords(path)
    with pytest.raises(InputError, match="no such word list"):
        VideoWords(tmp_path / "none.json")
