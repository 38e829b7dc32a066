"""A target of the fuzzer: a function that reads bytes and may raise
:class:`~harness.errors.HarnessError` alone, in one line.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from harness.errors import HarnessError
from tools.fuzz.variation import vary


class NotAnInput(Exception):
    """A variation has not the form that a target needs; it does not count."""


@dataclass(frozen=True)
class Target:
    """A name, inputs, and what reads them;
    ``read`` gets the bytes and an empty folder.
    """

    name: str
    inputs: st.SearchStrategy[bytes]
    read: Callable[[bytes, Path], None]
    scores: bool = False
    """True when an accepted input reaches a metric."""
    vary: Callable[[Sequence[bytes], random.Random], bytes] = vary
    """Returns a variation of inputs."""
    size: Callable[[bytes], int] = lambda data: 1
    """Number of inputs that a batch stands for."""
    halves: Callable[[bytes], list[bytes]] = lambda data: []
    """Returns the halves of a batch."""


TARGETS: dict[str, Target] = {}


def target(
    inputs: st.SearchStrategy[bytes], *, scores: bool = False, **batches: Any
) -> Callable[[Any], Any]:
    """Return a decorator that adds a function to :data:`TARGETS`; ``batches`` are
    further fields of :class:`Target`.
    """

    def add(function: Callable[[bytes, Path], None]) -> Callable[[bytes, Path], None]:
        name = function.__name__.replace("_", "-")
        TARGETS[name] = Target(name, inputs, function, scores, **batches)
        return function

    return add


def read_list(data: bytes, size: int) -> list[Any]:
    """Return a JSON list of ``size`` items;
    raise :class:`NotAnInput` for other data.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise NotAnInput from None
    if not isinstance(value, list) or len(value) != size:
        raise NotAnInput
    return value


def check_one_line(*messages: str) -> None:
    """Raise AssertionError for a message of several lines or of more than 5000
    characters.
    """
    for message in messages:
        assert "\n" not in message, f"a message of several lines: {message!r:.500}"
        assert len(message) < 5000, (
            f"a message of {len(message)} characters: {message[:200]}"
        )


def attempt(name: str, data: bytes, folder: Path) -> str:
    """Give bytes to a target; return ``accepted``, ``refused`` or ``skipped``.

    Other exceptions than a HarnessError of one line pass.
    """
    try:
        TARGETS[name].read(data, folder)
    except NotAnInput:
        return "skipped"
    except HarnessError as error:
        check_one_line(str(error))
        return "refused"
    return "accepted"
