"""Contents of a judge's answers: JSON objects, numbers in a range,
choices, refusals.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from harness.llm.usage import Prices
from harness_metrics.judges.replies import Reply

T = TypeVar("T")
Status = Literal["valid", "refused", "rejected", "truncated", "empty", "invalid"]
STATUSES: tuple[Status, ...] = (
    "valid",
    "refused",
    "rejected",
    "truncated",
    "empty",
    "invalid",
)
"""Kinds of answers. ``invalid``: complete, but without the values that were requested.
"""

_REFUSAL = re.compile(
    r"\b(?:i(?:'|’)?m sorry|i am sorry|i apologi[sz]e|as an ai\b"
    r"|i (?:can(?:no|'|’)t|am unable|am not able|won(?:'|’)t)|i(?:'|’)m "
    r"(?:unable|not able)"
    r"|lo siento|no puedo|je suis désolé|je ne peux pas|es tut mir leid|ich kann "
    r"(?:dabei |das |dir |ihnen )?nicht)"
    r"|抱歉|无法|申し訳",
    re.IGNORECASE,
)
"""Beginnings of refusals in some languages."""
_OBJECT_STARTS = 50
"""Maximum number of opening braces at which an object is sought."""
COLUMNS = (*STATUSES, "requests", "prompt_tokens", "completion_tokens")
"""Columns of :func:`count_answers`."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[T]):
    """The value of an answer, and all that was spent on it."""

    status: Status
    value: T | None
    """None unless the status is ``valid``."""
    requests: int = 1
    """Number of answers, repetitions included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


def find_object(text: str) -> dict[str, Any] | None:
    """Return the last JSON object of a text, outermost braces;
    None where there is none.

    Text and code fences around it are ignored. Objects are closed: half of one is None.

    >>> find_object('Sure:\\n```json\\n{"score": 70, "reason": "both {a} dog"}\\n```')
    {'score': 70, 'reason': 'both {a} dog'}
    """
    decoder = json.JSONDecoder(strict=False)
    last = None
    position = 0
    for _ in range(_OBJECT_STARTS):
        position = text.find("{", position)
        if position < 0:
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        last = value
    return last


def number_in(value: Any, low: float, high: float) -> float | None:
    """Return a JSON number or a text such as ``"85"``, ``"85/100"`` or ``"85 %"`` as a
    number in [low, high]; None for any other.

    >>> number_in("85/100", 0, 100), number_in(101, 0, 100), number_in(True, 0, 100)
    (85.0, None, None)
    """
    if isinstance(value, str):
        pattern = rf"\s*([+-]?\d+(?:[.,]\d+)?)\s*(?:/\s*{high:g}|%)?\s*"
        match = re.fullmatch(pattern, value)
        value = float(match[1].replace(",", ".")) if match else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if low <= value <= high and math.isfinite(value) else None


def read_number(
    key: str, low: float, high: float
) -> Callable[[Mapping[str, Any]], float | None]:
    """Return a function that reads one number from an object.

    The number is that of ``key`` in any case, else the only number of an object that
    has exactly one (models that answer in another language translate the key).
    """

    def read(values: Mapping[str, Any]) -> float | None:
        exact = [
            value
            for name, value in values.items()
            if name.strip().casefold() == key.casefold()
        ]
        if exact:
            return number_in(exact[0], low, high)

        numbers = [
            v
            for v in values.values()
            if isinstance(v, (int, float)) and not isinstance(v, bool)
        ]
        return number_in(numbers[0], low, high) if len(numbers) == 1 else None

    return read


def read_numbers(
    keys: Sequence[str], low: float, high: float
) -> Callable[[Mapping[str, Any]], tuple[float, ...] | None]:
    """Return a function that reads a number for each key, in any case,
    or None where one is missing.
    """

    def read(values: Mapping[str, Any]) -> tuple[float, ...] | None:
        by_name = {name.strip().casefold(): value for name, value in values.items()}
        numbers = [number_in(by_name.get(key.casefold()), low, high) for key in keys]
        present = tuple(float(number) for number in numbers if number is not None)
        return present if len(present) == len(numbers) else None

    return read


def read_choice(
    key: str, choices: Sequence[str]
) -> Callable[[Mapping[str, Any]], str | None]:
    """Return a function that reads one of some choices, in any case."""
    by_name = {choice.casefold(): choice for choice in choices}

    def read(values: Mapping[str, Any]) -> str | None:
        texts = {
            name.strip().casefold(): value
            for name, value in values.items()
            if isinstance(value, str)
        }
        exact = texts.get(key.casefold())
        if exact is None:
            hits = [
                value for value in texts.values() if value.strip().casefold() in by_name
            ]
            exact = hits[0] if len(hits) == 1 else ""
        return by_name.get(exact.strip().casefold())

    return read


def verdict_of(
    reply: Reply, read: Callable[[Mapping[str, Any]], T | None]
) -> Verdict[T]:
    """Return the verdict of one reply; ``read`` gets the JSON object and returns the
    value, or None where it is missing.
    """
    values = find_object(reply.text)
    value = None
    if values is not None and reply.finish not in ("refused", "rejected"):
        value = read(values)
    status: Status = "valid" if value is not None else _status(reply)
    return Verdict(status, value, 1, reply.prompt_tokens, reply.completion_tokens)


def verdict_of_text(reply: Reply) -> Verdict[str]:
    """Return the verdict of a reply in prose: the text, or a refusal,
    half of a text or an empty one.
    """
    status = _status(reply)
    text = None
    # prose has no form that could be invalid
    if status == "invalid":
        status = "valid"
        text = reply.text.strip()
    return Verdict(status, text, 1, reply.prompt_tokens, reply.completion_tokens)


def _status(reply: Reply) -> Status:
    """Return the status of a reply without value."""
    if reply.finish == "rejected" or reply.finish == "refused":
        return reply.finish
    if reply.finish == "length":
        return "truncated"
    if not reply.text.strip():
        return "empty"
    is_refusal = _REFUSAL.search(reply.text[:300]) is not None
    return "refused" if is_refusal and find_object(reply.text) is None else "invalid"


def count_answers(verdicts: Sequence[Verdict[Any]]) -> np.ndarray:
    """Return the counts of the verdicts on one example, float64, shape (9,), in the
    order of :data:`COLUMNS`.
    """
    counts = [
        sum(verdict.status == status for verdict in verdicts) for status in STATUSES
    ]
    sums = [
        sum(getattr(verdict, name) for verdict in verdicts)
        for name in COLUMNS[len(STATUSES) :]
    ]
    return np.asarray([*counts, *sums], dtype=np.float64)


def describe_counts(counts: np.ndarray, prices: Prices | None) -> dict[str, object]:
    """Return the sums of counts (B, 9): answers by status, requests, tokens, and the
    cost where prices are known.
    """
    sums = dict(zip(COLUMNS, counts.sum(axis=0).astype(int).tolist()))
    out: dict[str, object] = {
        "answers": {status: sums[status] for status in STATUSES},
        "requests": sums["requests"],
        "tokens": {"input": sums["prompt_tokens"], "output": sums["completion_tokens"]},
    }
    if prices is not None:
        paid_input = sums["prompt_tokens"] * prices.get("input", 0.0)
        paid_output = sums["completion_tokens"] * prices.get("output", 0.0)
        out["cost"] = (paid_input + paid_output) / 1e6
    return out
