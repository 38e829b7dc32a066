"""Signs in a record that its answer was cut off: a finish reason of the server, or as
many tokens as there was room for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

REASONS = (
    "finish_reason",
    "finishReason",
    "stop_reason",
    "stop_reasons",
    "done_reason",
    "finish_reasons",
)
"""Names of the reason: OpenAI, vLLM, TGI; Gemini; Anthropic and inspect; Ollama."""
CUT_OFF = ("length", "max_tokens", "max_length", "model_length", "max_output_tokens")
"""Values that mean that the answer was cut off, in lower case."""
TOKENS = (
    "completion_tokens",
    "output_tokens",
    "generated_tokens",
    "num_generated_tokens",
    "eval_count",
    "candidatesTokenCount",
)
"""Names of the number of tokens of the answer."""
LIMITS = (
    "max_tokens",
    "max_new_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "num_predict",
)
"""Names of the largest number."""
_NAMES = frozenset((*REASONS, *TOKENS, *LIMITS))
_OUTER_NAMES = frozenset(
    (
        "response",
        "body",
        "result",
        "output",
        "details",
        "choices",
        "candidates",
        "message",
        "usage",
        "usageMetadata",
        "params",
        "parameters",
        "request",
    )
)
"""Fields, and lists of them, in which the values stand in the records of servers."""
_DEPTH = 5
"""Levels of such fields that are looked at."""
_WIDTH = 8
"""Items of a list of them that are looked at."""
FIELDS = _NAMES | _OUTER_NAMES
"""Fields, one of which every record has that says whether its answer was cut off."""


def is_cut_off(record: Mapping[str, Any]) -> bool:
    """Return True where a record says that its answer was cut off.

    >>> is_cut_off({"caption": "a dog runs on the", "finish_reason": "length"})
    True
    >>> is_cut_off(
    ...     {"caption": "a dog", "usage": {"completion_tokens": 7}, "max_tokens": 20}
    ... )
    False
    """
    reasons, tokens, limits = _numbers_and_reasons(record)
    if reasons:
        return any(reason.lower() in CUT_OFF for reason in reasons)

    # Without a reason the number of tokens tells, where there is one of each.
    if len(tokens) != 1 or len(limits) != 1:
        return False
    return tokens[0] >= limits[0] > 0


def _numbers_and_reasons(
    record: Mapping[str, Any],
) -> tuple[list[str], list[int], list[int]]:
    """Return the finish reasons of a record, its numbers of tokens and its limits."""
    reasons: list[str] = []
    tokens: list[int] = []
    limits: list[int] = []
    pending: list[tuple[Mapping[str, Any], int]] = [(record, 0)]
    while pending:
        fields, depth = pending.pop()
        for name in fields.keys() & _NAMES:
            value = fields[name]
            if name in REASONS:
                values: Sequence[Any] = value if isinstance(value, list) else [value]
                reasons += [item for item in values if isinstance(item, str)]
            elif isinstance(value, int) and not isinstance(value, bool):
                (tokens if name in TOKENS else limits).append(value)

        if depth == _DEPTH:
            continue
        for name in fields.keys() & _OUTER_NAMES:
            value = fields[name]
            inner: Sequence[Any] = [value]
            if isinstance(value, list):
                inner = value[:_WIDTH]
            pending += [
                (item, depth + 1) for item in inner if isinstance(item, Mapping)
            ]
    return reasons, list(dict.fromkeys(tokens)), list(dict.fromkeys(limits))
