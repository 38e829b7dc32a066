"""Records of answers that were cut off."""

from __future__ import annotations

from typing import Any

import pytest

from harness.files.generated.finish_reasons import FIELDS, is_cut_off

CUT: list[dict[str, Any]] = [
    {"caption": "a", "finish_reason": "length"},
    {"caption": "a", "stop_reason": "max_tokens"},
    {"caption": "a", "done_reason": "length"},
    {"caption": "a", "finishReason": "MAX_TOKENS"},
    {
        "response": {
            "body": {
                "choices": [{"finish_reason": "length", "message": {"content": "a"}}]
            }
        }
    },
    {"candidates": [{"finishReason": "MAX_TOKENS", "content": {}}]},
    {"output": {"choices": [{"stop_reason": "max_tokens"}]}},
    {"usage": {"completion_tokens": 16}, "max_tokens": 16},
    {"usage": {"output_tokens": 16}, "params": {"max_tokens": 16}},
]
WHOLE: list[dict[str, Any]] = [
    {"caption": "a"},
    {"caption": "a", "finish_reason": "stop"},
    {"caption": "a", "finish_reason": None},
    {
        "caption": "a",
        "finish_reason": "stop",
        "completion_tokens": 16,
        "max_tokens": 16,
    },
    {"usage": {"completion_tokens": 7}, "max_tokens": 16},
    {"usage": {"completion_tokens": 16}},
    {"completion_tokens": True, "max_tokens": 1},
    {"candidates": {"length": "a dog"}},
]


@pytest.mark.parametrize("record", CUT)
def test_a_record_says_that_its_answer_was_cut_off(record: dict[str, Any]):
    assert is_cut_off(record)
    assert not FIELDS.isdisjoint(record)


@pytest.mark.parametrize("record", WHOLE)
def test_a_record_of_a_whole_answer_does_not(record: dict[str, Any]):
    assert not is_cut_off(record)
