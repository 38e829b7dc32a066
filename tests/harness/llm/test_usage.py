"""Tokens and their cost."""

from __future__ import annotations

import pytest

from harness.llm.usage import Usage


def test_tokens_and_their_cost():
    usage = Usage()
    usage.add(
        {
            "usage": {
                "prompt_tokens": 1000,
                "completion_tokens": 50,
                "prompt_tokens_details": {"cached_tokens": 400},
            }
        }
    )
    usage.add({"usage": {"prompt_tokens": 500, "completion_tokens": None}})
    usage.add({"usage": None})
    usage.add([])
    assert (usage.replies, usage.uncounted) == (4, 2)
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (
        1500,
        400,
        50,
    )
    assert usage.cost({"input": 2.0, "output": 10.0}) == pytest.approx(
        (1500 * 2 + 50 * 10) / 1e6
    )
    usage.add(
        {
            "usage": {
                "prompt_tokens": 10**400,
                "completion_tokens": -3,
                "prompt_tokens_details": {"cached_tokens": 10**12},
            }
        }
    )
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (
        1500,
        400,
        50,
    )
    assert usage.cost({"input": 2.0, "cached": 0.5}) == pytest.approx(
        (1100 * 2 + 400 * 0.5) / 1e6
    )
