"""Words that introduce a caption."""

from __future__ import annotations

import pytest

from harness.files.generated.answer_prefixes import find_prefix, strip_prefix


@pytest.mark.parametrize(
    "text",
    [
        "Caption: A dog runs.",
        "caption : A dog runs.",
        "**Caption:** A dog runs.",
        "**Caption**: A dog runs.",
        "**Caption: A dog runs.**",
        '"Caption: A dog runs."',
        "Here is a caption: A dog runs.",
        'Here\'s a caption for the image:\n\n"A dog runs."',
        "Sure! A dog runs.",
        "Sure! Here is a concise caption for the image: “A dog runs.”",
        "Certainly, here's a description of the scene:\nA dog runs.",
        "The caption is: A dog runs.",
        "Image description: A dog runs.",
        "Short caption for this image: A dog runs.",
        "Sure thing! Caption: A dog runs.",
    ],
)
def test_the_caption_stays(text: str):
    assert strip_prefix(text) == "A dog runs."


@pytest.mark.parametrize(
    "text",
    [
        'a sign that says "caption: this"',
        "here is a picture of two signs: stop and go",
        "the answer to the question is: 4",
        "sure , a dog runs",
        "sure footed goats",
        "a description of a man",
        '"a quoted caption"',
    ],
)
def test_a_caption_with_such_words_stays(text: str):
    assert strip_prefix(text) == text


def test_the_words_are_named():
    assert find_prefix("Sure! Here is a caption: a dog") == ["Sure! Here is a caption:"]
