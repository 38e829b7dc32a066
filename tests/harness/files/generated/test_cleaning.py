"""What is removed of captions on request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files.generated.cleaning import (
    CLEAN,
    REMOVABLE,
    check_clean,
    clean,
    drop_repeats,
)

PIECES = [
    "<think>",
    "</think>",
    "◁think▷",
    "<|im_start|>",
    "assistant\n",
    "user\n",
    "<|im_end|>",
    "</s>",
    "<pad>",
    "[INST]",
    "[/INST]",
    "USER:",
    "ASSISTANT:",
    "Caption:",
    "**",
    "Sure!",
    '"',
    "Here is a caption:",
    "- ",
    "\n",
    "# ",
    "a dog",
    " runs ",
    "assistantfinal",
    "analysis",
    "```",
    "<|channel|>",
    "final",
    "<|message|>",
    "*",
    "__",
    "<answer>",
    "startseq",
    "Question:",
    "Answer:",
]
texts_with_marks = st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
names = st.lists(st.sampled_from(CLEAN), unique=True)


@given(texts_with_marks, names)
def test_cleaning_twice_is_cleaning_once(text: str, chosen: list[str]):
    once = clean(text, chosen)
    assert clean(once, chosen) == once
    assert len(once) <= len(text)


@given(
    st.text(st.characters(exclude_characters="<[◁*#_`:：\n!")).filter(
        lambda text: not any(w in text.lower() for w in ("seq", "analysis"))
    )
)
def test_a_text_without_marks_is_unchanged(text: str):
    assert clean(text, CLEAN) == text


@given(texts_with_marks)
def test_what_is_removed_has_a_trigger(text: str):
    for item in REMOVABLE:
        if item.strip(text) != text:
            assert any(trigger in text.lower() for trigger in item.triggers)
            assert all(item.find(text))


@given(texts_with_marks)
def test_nothing_is_removed_unasked(text: str):
    assert clean(text, ()) == text
    assert clean(text, ("repeats",)) == text


def test_one_kind_leaves_the_others():
    text = "<think>hm</think>**Caption:** a dog<|im_end|>"
    assert clean(text, ["think"]) == "**Caption:** a dog<|im_end|>"
    assert clean(text, ["think", "prefix"]) == "a dog<|im_end|>"
    assert clean(text, ["think", "marks", "prefix"]) == "a dog"


def test_names_are_checked():
    assert (
        check_clean("prefix, think")
        == check_clean(["think", "prefix"])
        == ("think", "prefix")
    )
    assert check_clean(None) == check_clean("") == ()
    with pytest.raises(
        InputError,
        match="clean has no 'thinking'.*think, marks, echo, prefix, markdown, repeats",
    ):
        check_clean("thinking")


def test_one_of_equal_captions_stays():
    assert drop_repeats(("a", "a", "a")) == ("a",)
    assert drop_repeats(("a", "b", "a")) == ("a", "b", "a")
    assert drop_repeats(()) == ()
