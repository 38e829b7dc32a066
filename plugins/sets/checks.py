"""Checks of constructor parameters that several metrics of sets share."""

from __future__ import annotations

import math
from collections.abc import Collection

from harness.errors import HarnessError, did_you_mean


def check_count(value: object, metric: str, parameter: str, least: int = 1) -> int:
    """Return an integer parameter; raise :class:`HarnessError` unless it is at least ``least``.

    >>> check_count(5, "coverage", "k")
    5
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}; expected an integer of at least {least}",
            parameter=parameter, value=value,
        )  # fmt: skip
    return value


def check_number(value: object, metric: str, parameter: str, least: float = 0.0, most: float = math.inf) -> float:
    """Return a finite number in [least, most]; raise :class:`HarnessError` for any other value.

    >>> check_number(1, "vendi", "q")
    1.0
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not least <= value <= most
        or math.isinf(value)
    ):
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}; expected a number {limits}", parameter=parameter, value=value
        )
    return float(value)


def check_choice(value: str, metric: str, parameter: str, choices: Collection[str]) -> str:
    """Return one of some names; raise :class:`HarnessError` with the nearest name for any other value.

    >>> check_choice("mean", "pairwise", "aggregate", ("mean", "best"))
    'mean'
    """
    if value not in choices:
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}{did_you_mean(str(value), choices)}; expected {' or '.join(choices)}",
            parameter=parameter, value=value, expected=choices,
        )  # fmt: skip
    return value


def check_order_of_entropy(value: object, metric: str) -> float:
    """Return the order q of an entropy; raise :class:`HarnessError` unless it is a number of at least 0, or infinite.

    >>> check_order_of_entropy(2, "vendi")
    2.0
    """
    return math.inf if value in (math.inf, "inf") else check_number(value, metric, "q")
