"""Whether a record says that its answer was cut off: a finish reason of the server, or
as many tokens as there was room for.
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
_PARTS = (
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
"""Fields, and lists of them, in which the values stand in the records of servers."""
_DEPTH = 5
_NAMES = frozenset((*REASONS, *TOKENS, *LIMITS))
_PART_NAMES = frozenset(_PARTS)
FIELDS = _NAMES | _PART_NAMES
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
    if any(reason.lower() in CUT_OFF for reason in reasons):
        return True
    return (
        not reasons
        and len(tokens) == 1
        and len(limits) == 1
        and tokens[0] >= limits[0] > 0
    )


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
                reasons += [
                    item
                    for item in (value if isinstance(value, list) else [value])
                    if isinstance(item, str)
                ]
            elif isinstance(value, int) and not isinstance(value, bool):
                (tokens if name in TOKENS else limits).append(value)
        if depth < _DEPTH:
            for name in fields.keys() & _PART_NAMES:
                value = fields[name]
                parts: Sequence[Any] = value[:8] if isinstance(value, list) else [value]
                pending += [
                    (part, depth + 1) for part in parts if isinstance(part, Mapping)
                ]
    return reasons, list(dict.fromkeys(tokens)), list(dict.fromkeys(limits))
