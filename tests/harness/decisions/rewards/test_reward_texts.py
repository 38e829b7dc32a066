"""Texts of captions as trainers give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import reward
from harness.errors import InputError

REFERENCES = [
    ["a dog runs", "the dog", "a brown dog runs in the park", "dog", "two dogs run"],
    ["a cat sat", "one cat", "a black cat sits", "cats", "a cat on a mat"],
]
BY_ID = dict(zip("ab", REFERENCES))


def test_token_ids_have_the_words_of_a_mapping() -> None:
    texts: list[list[int]] = []

    def decode(tokens: list[int]) -> str:
        texts.append(tokens)
        return "a dog"

    words = {5: "a", 700: "dog", -3: "runs"}
    expected = reward("ciderd", BY_ID)(["a", "a"], ["a dog", "a dog runs"])
    np.testing.assert_array_equal(
        reward("ciderd", BY_ID, decode=words)(["a", "a"], [[5, 700], [5, 700, -3]]),
        expected,
    )
    np.testing.assert_array_equal(
        reward("ciderd", BY_ID, decode=decode, end=9)(["a", "a"], [[1, 2, 9, 4], [3]]),
        expected[[0, 0]],
    )
    assert texts == [[1, 2], [3]], "the end and what follows are no part of the text"


@pytest.mark.parametrize("padding", [-100, -1, -7])
@pytest.mark.parametrize("end", [None, 0])
def test_negative_token_ids_end_a_text_and_are_no_words(
    padding: int, end: int | None
) -> None:
    score = reward("ciderd", {"1": [[5, 9, 2], [5, 7]], "2": [[8, 9]]}, end=end)
    expected = score(["1", "2", "2"], [[5, 9, 2], [8, 9], []])
    assert expected.tolist() == pytest.approx([4.3663793, 5.0, 0.0], abs=1e-6)
    padded = np.array([[5, 9, 2, padding], [8, 9, padding, padding], [padding] * 4])
    np.testing.assert_array_equal(score(["1", "2", "2"], padded), expected)
    np.testing.assert_array_equal(score(["1", "2", "2"], padded.tolist()), expected)


@pytest.mark.parametrize(
    ("tokens", "found"),
    [([-100, -100, 8, 9], -100), ([8, -1, 9, -1], -1), ([8, -1, 9, 0, -100], -1)],
)
def test_a_negative_id_before_a_token_is_refused(tokens: list[int], found: int) -> None:
    with pytest.raises(
        InputError,
        match=f"captions: item 0: .*the negative id {found} stands before a token; "
        "negative ids pad the end",
    ):
        reward("ciderd", {"2": [[8, 9]]}, end=0)(["2"], [tokens])


def test_ids_after_the_end_token_are_not_looked_at() -> None:
    score = reward("ciderd", {"1": [[5, 9, 2]], "2": [[8, 9]]}, end=0)
    np.testing.assert_array_equal(
        score(["2", "2"], [[8, 9, 0, -100, 7], [8, 9, -100, 0, 3]]),
        score(["2", "2"], [[8, 9], [8, 9]]),
    )


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ([], ""),
        (None, ""),
        ([{"role": "assistant", "content": None}], ""),
        ([{"role": "assistant", "content": []}], ""),
        ([{"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}], ""),
        ({"role": "assistant", "content": "a dog"}, "a dog"),
        (
            [
                {"role": "assistant", "content": None, "tool_calls": [{}]},
                {"role": "tool", "content": "a dog runs"},
            ],
            "",
        ),
        (
            [
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "a dog runs"}],
                }
            ],
            "a dog runs",
        ),
        (
            [
                {
                    "content": [
                        {"type": "text", "text": "a dog "},
                        {"type": "text", "text": "runs"},
                    ]
                }
            ],
            "a dog runs",
        ),
        (
            [
                {
                    "content": [
                        {"type": "thinking", "thinking": "a cat?"},
                        "a dog ",
                        {"text": "runs"},
                    ]
                }
            ],
            "a dog runs",
        ),
    ],
)
def test_forms_of_completions_of_a_trainer(completion: Any, text: str) -> None:
    score = reward("ciderd", BY_ID).for_trl(2)
    columns = {"id": ["a", "a"], "prompts": ["p", "p"]}
    assert score([completion, "the dog"], **columns) == score(
        [text, "the dog"], **columns
    )
    assert score(["", "the dog"], **columns)[0] == 0.0


@pytest.mark.parametrize(
    "completion",
    [
        [{"role": "assistant"}],
        [3, 4],
        7,
        [{"content": {"a": 1}}],
        [{"content": [{"type": "text", "text": 3}]}],
    ],
)
def test_a_completion_that_is_neither_text_nor_messages_is_named(
    completion: Any,
) -> None:
    with pytest.raises(
        InputError,
        match="^completions: item 1: .*; expected a text, "
        "or a list of messages with 'content'",
    ):
        reward("ciderd", BY_ID).for_trl(2)(["a dog", completion], id=["a", "a"])


def completions(*texts: str) -> list[list[dict[str, str]]]:
    return [
        [
            {"role": "user", "content": "no caption"},
            {"role": "assistant", "content": text},
        ]
        for text in texts
    ]
