"""Markdown in captions."""

from __future__ import annotations

import pytest

from harness.files.generated.markdown import find_markdown, strip_markdown


@pytest.mark.parametrize(
    ("text", "plain", "names"),
    [
        ("A **dog** runs.", "A dog runs.", ["bold"]),
        ("A __dog__ runs.", "A dog runs.", ["bold"]),
        ("*A dog runs.*", "A dog runs.", ["italics"]),
        ("## A dog\nIt runs.", "A dog\nIt runs.", ["a heading"]),
        ("# A dog\nIt runs.", "A dog\nIt runs.", ["a heading"]),
        ("- a dog\n- a cat", "a dog\na cat", ["a list"]),
        ("1. a dog\n2. a cat", "a dog\na cat", ["a list"]),
        ("```text\na dog\n```", "a dog", ["a code fence"]),
    ],
)
def test_marks_are_removed_and_named(text: str, plain: str, names: list[str]):
    assert strip_markdown(text) == plain
    assert find_markdown(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "# 213 leans into a street",
        "2 * 3 * 4",
        "1. Gomaespuma was a show",
        "- a dash",
        "`` book bus ''",
        "A2mcp0N__7U__x",
        "a - b\nc - d",
        "two\nlines",
    ],
)
def test_a_caption_with_such_signs_stays(text: str):
    assert strip_markdown(text) == text
