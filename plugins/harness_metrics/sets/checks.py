"""Checks of constructor parameters that several metrics of sets share."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TypeVar

from harness.errors import HarnessError, did_you_mean

Name = TypeVar("Name", bound=str)


def check_count(value: object, metric: str, parameter: str, minimum: int = 1, maximum: int | None = None) -> int:
    """Return an integer parameter; raise :class:`HarnessError` unless it is in [minimum, maximum].

    >>> check_count(5, "coverage", "k")
    5
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or value < minimum
        or (maximum is not None and value > maximum)
    ):
        limits = f"of at least {minimum}" + (f", at most {maximum}" if maximum is not None else "")
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}; expected an integer {limits}", parameter=parameter, value=value
        )
    return value


def check_positive(value: float, metric: str, parameter: str) -> float:
    """Return a number above 0; raise :class:`HarnessError` for any other value, such as NaN.

    >>> check_positive(2, "text-space-qdisc", "penalty")
    2.0
    """
    if not value > 0:
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}; expected a number above 0", parameter=parameter, value=value
        )
    return float(value)


def check_number(value: object, metric: str, parameter: str, minimum: float = 0.0, maximum: float = math.inf) -> float:
    """Return a finite number in [minimum, maximum]; raise :class:`HarnessError` for any other value.

    >>> check_number(1, "vendi", "q")
    1.0
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not minimum <= value <= maximum
        or math.isinf(value)
    ):
        limits = f"from {minimum:g} to {maximum:g}" if math.isfinite(maximum) else f"of at least {minimum:g}"
        raise HarnessError(
            f"{metric}: {parameter} is {value!r}; expected a number {limits}", parameter=parameter, value=value
        )
    return float(value)


def check_choice(value: str, metric: str, parameter: str, choices: Collection[Name]) -> Name:
    """Return one of some names; raise :class:`HarnessError` with the nearest name for any other value.

    >>> check_choice("mean", "pairwise", "aggregate", ("mean", "best"))
    'mean'
    """
    for choice in choices:
        if choice == value:
            return choice
    raise HarnessError(
        f"{metric}: {parameter} is {value!r}{did_you_mean(str(value), choices)}; expected {' or '.join(choices)}",
        parameter=parameter, value=value, expected=choices,
    )  # fmt: skip


def check_order_of_entropy(value: object, metric: str) -> float:
    """Return the order q of an entropy; raise :class:`HarnessError` unless it is a number of at least 0, or infinite.

    >>> check_order_of_entropy(2, "vendi")
    2.0
    """
    return math.inf if value in (math.inf, "inf") else check_number(value, metric, "q")
