"""Values in the answers of programs: numbers, vectors, captions; checked."""

from __future__ import annotations

import base64
import binascii
import json
import logging
import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from harness.contracts import Values
from harness.errors import counted, one_line
from harness.programs.client import NameOf
from harness.programs.protocol import ProgramFault, pack_vector, unpack_vector

SLACK = 1e-7
"""Share of a bound by which a value may pass it: rounding in single precision."""
_log = logging.getLogger(__name__)


def read_numbers(
    answers: Sequence[Values],
    name_of: NameOf,
    *,
    label: str,
    bounds: tuple[float, float] | None,
    may_fail: bool,
) -> np.ndarray:
    """Return the numbers of answers, float64, shape (K,), NaN for null.

    Parameters
    ----------
    answers : sequence of mapping
        Answers in the order of their requests.
    name_of : callable
        Names of the items.
    label : str
        Kind and name for messages.
    bounds : pair of float, optional
        Smallest and largest value.
    may_fail : bool
        An item with an error is NaN, and noted; else it ends the run.

    Raises
    ------
    ProgramFault
        An answer without a number, or one that is not finite or not within the bounds.
    """
    numbers = np.full(len(answers), np.nan)
    failed: list[int] = []
    for row, answer in enumerate(answers):
        value = answer.get("value")
        if type(value) is float or type(value) is int:
            if not _is_finite(value):
                raise _wrong(label, answer, name_of(row), "a finite number, or null")
            numbers[row] = value
        elif "error" in answer:
            failed.append(row)
        elif value is not None or "value" not in answer:
            raise _wrong(label, answer, name_of(row), "a number or null")

    if failed:
        first = answers[failed[0]]["error"]
        text = one_line(f"{name_of(failed[0])}: {first!s:.200}")
        if not may_fail:
            raise ProgramFault(f"{label}: the program has an error for {text}")
        _log.warning(
            "note: %s: the program has errors for %s, which have no score, such as %s",
            label,
            counted(len(failed), "item"),
            text,
        )
    if bounds is not None:
        low, high = bounds
        beyond = (numbers < low - SLACK * max(1, abs(low))) | (
            numbers > high + SLACK * max(1, abs(high))
        )
        if beyond.any():
            row = int(beyond.argmax())
            expected = f"a number from {low:g} to {high:g}, the declared bounds"
            raise _wrong(label, answers[row], name_of(row), expected)
    return numbers


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        # A whole number of JSON that no float holds.
        return False


def read_vectors(
    answers: Sequence[Values], name_of: NameOf, *, label: str
) -> np.ndarray:
    """Return the vectors of answers, float32, shape (K, d); raise
    :class:`ProgramFault` for one of another length, or that is not finite.
    """
    first = _vector(answers[0], name_of(0), label)
    vectors = np.empty((len(answers), len(first)), dtype=np.float32)
    for row, answer in enumerate(answers):
        vector = _vector(answer, name_of(row), label)
        if len(vector) != len(first):
            raise ProgramFault(
                f"{label}: the program answers {len(vector)} numbers for "
                f"{name_of(row)}, and {len(first)} for {name_of(0)}"
            )
        vectors[row] = vector
    if not np.isfinite(vectors).all():
        row = int((~np.isfinite(vectors).all(axis=1)).argmax())
        raise _wrong(label, answers[row], name_of(row), "finite numbers")
    return vectors


def _vector(answer: Values, name: str, label: str) -> np.ndarray:
    """Return the vector of an answer: a list of numbers, packed or not, or the base64
    of float32 numbers, the lowest byte first. A list is packed in the answer.
    """
    value = answer.get("value")
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4")
    except (ValueError, binascii.Error):
        pass
    pack_vector(answer)
    value = answer.get("value")
    if isinstance(value, bytes):
        return np.frombuffer(value, np.float32)
    if "error" in answer:
        raise ProgramFault(
            f"{label}: the program has an error for {name}: {answer['error']!s:.200}"
        )
    raise _wrong(label, answer, name, "a list of numbers, or base64 of float32")


def read_captions(answer: Values, name: str, n: int | None, label: str) -> list[str]:
    """Return the captions of an answer: one text, or a list of ``n`` (None: any number
    of at least 1). Raise :class:`ProgramFault` for anything else.
    """
    value = answer.get("value")
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, list) and texts:
        captions = [
            text for text in cast("list[object]", texts) if isinstance(text, str)
        ]
        if len(captions) == len(texts) and (n is None or len(captions) == n):
            return captions
    expected = "a text or a list of texts" if n is None else f"{counted(n, 'text')}"
    raise _wrong(label, answer, name, expected)


def _wrong(label: str, answer: Values, name: str, expected: str) -> ProgramFault:
    """Return the error of an answer with another value than expected."""
    text = json.dumps(
        {key: item for key, item in answer.items() if key != "id"},
        default=unpack_vector,
    )
    return ProgramFault(
        f"{label}: the program answers {text:.80} for {name}; expected {expected}"
    )
