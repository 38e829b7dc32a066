"""Prompts before answers."""

from __future__ import annotations

import pytest

from harness.files.generated.prompt_echoes import find_echo, strip_echo, strip_prompt


@pytest.mark.parametrize(
    "text",
    [
        "USER: Describe the picture. ASSISTANT: a bus",
        "A chat between a human and an assistant. USER: hi ASSISTANT: hello USER: "
        "Describe. ASSISTANT: a bus",
        "Human: Describe it.\nAssistant: a bus",
        "Question: What is this? Answer: a bus",
        "### Instruction:\nDescribe.\n\n### Response:\na bus",
        "ASSISTANT: a bus",
    ],
)
def test_the_answer_stays(text: str):
    assert strip_echo(text) == "a bus"


@pytest.mark.parametrize(
    "text",
    [
        "two signs: answer: yes",
        "a user: a man",
        "the question is: who",
        "USER: a name on a badge",
    ],
)
def test_a_caption_with_a_colon_stays(text: str):
    assert strip_echo(text) == text


def test_heads_are_named():
    assert find_echo("USER: Describe. ASSISTANT: a bus") == ["USER:", "ASSISTANT:"]


def test_the_prompt_of_the_record_is_removed():
    assert (
        strip_prompt("Describe the picture.\na bus", "<image>\nDescribe the picture.")
        == "a bus"
    )
    assert strip_prompt(" a photo of a bus", "a photo of") == "a bus"
    assert strip_prompt("Describe it.", "Describe it.") == ""


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("a bus", "Describe it."),
        ("a bus", "a"),
        ("a photo offers much", "a photo of"),
        ("a bus", ""),
    ],
)
def test_a_text_that_begins_otherwise_stays(text: str, prompt: str):
    assert strip_prompt(text, prompt) == text
