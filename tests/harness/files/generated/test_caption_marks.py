"""Marks in single captions."""

from __future__ import annotations

from harness.files.generated.caption_marks import caption_marks


def test_marks_within_thinking_are_not_of_the_caption():
    assert caption_marks(
        "<think>**hm** <|im_end|> I'm sorry, I can't see it.</think>a dog"
    ) == [("think", ["<think>", "</think>"])]
