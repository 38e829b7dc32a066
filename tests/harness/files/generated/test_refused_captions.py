"""Refusals in place of captions."""

from __future__ import annotations

import pytest

from harness.files.generated.refused_captions import is_refusal


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "I am sorry, I cannot help with that.",
        "I cannot help with that",
        "I'm unable to assist with that.",
        "I won't be able to help with that",
        "As an AI language model, I cannot see images.",
        "As an AI, I don't have the ability to view images.",
        "I'm sorry, as an AI I have no eyes",
        "Sorry, I can't describe this picture.",
        "Unfortunately, I am not able to view images directly.",
        "I apologize, but I cannot provide a description of the image.",
        "I don't see any image in your message",
        "I'm sorry, but there is no image attached.",
        "I am unable to see an image above.",
        "Please provide the image so that I can describe it.",
    ],
)
def test_a_refusal_is_found(text: str):
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "a dog looks sorry",
        "sorry cat on a couch",
        "a sign that says I'm sorry, I can't help",
        "I can't believe how cute this dog is",
        "i am unable to see the few men",
        "i 'm sorry , i ca n't come",
        "I'm sorry to hear that.",
        "unfortunately we do not have any openings today",
        "We can't see the dog in the photo",
        "As an artificial satellite, it orbits",
    ],
)
def test_a_caption_is_no_refusal(text: str):
    assert not is_refusal(text)
