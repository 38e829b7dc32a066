"""Thinking before captions."""

from __future__ import annotations

import pytest

from harness.files.generated.thinking import find_thinking, strip_thinking


@pytest.mark.parametrize(
    "text",
    [
        "<think>The user wants a caption.</think>\n\na dog runs",
        "<THINKING budget='10'>hm\n\nhm</THINKING> a dog runs",
        "<seed:think>hm</seed:think>a dog runs",
        "◁think▷hm◁/think▷a dog runs",
        "[THINK]hm[/THINK]a dog runs",
        "<|begin_of_thought|>hm<|end_of_thought|><|begin_of_solution|>a dog "
        "runs<|end_of_solution|>",
        "<think>hm</think><answer> a dog runs </answer>",
        "hm, a dog I see.\n</think>\na dog runs",
        "<think>a<think>b</think>c</think>a dog runs",
        "<|channel|>analysis<|message|>hm<|end|>"
        "<|start|>assistant<|channel|>final<|message|>a dog runs<|return|>",
        "analysisThe user wants a caption.assistantfinala dog runs",
    ],
)
def test_the_answer_stays(text: str):
    assert strip_thinking(text) == "a dog runs"


@pytest.mark.parametrize(
    "text",
    [
        "<think>The user wants",
        "<|channel|>analysis<|message|>The user wants",
        "hm</think>",
    ],
)
def test_nothing_stays_of_an_answer_that_ended_within_its_thinking(text: str):
    assert strip_thinking(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "a man thinking about a page of analysis",
        " a  dog ",
        "an arrow < a thought > in a comic",
        "analysis of a final",
    ],
)
def test_a_caption_about_thinking_stays(text: str):
    assert strip_thinking(text) == text


def test_what_was_found_is_named():
    assert find_thinking("<think>hm</think>a dog") == ["<think>", "</think>"]
    assert find_thinking("analysishmassistantfinala dog") == [
        "analysis … assistantfinal"
    ]
