"""Comparison of version numbers in manifests (``>=0.1,<1``)."""

from __future__ import annotations

import operator
import re

from harness.errors import HarnessError

_OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}


def _numbers(version: str) -> tuple[int, ...]:
    numbers = tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])
    return numbers + (0,) * (3 - len(numbers))


def satisfies(version: str, specifier: str) -> bool:
    """Return True when ``version`` satisfies a comma-separated specifier; raise :class:`HarnessError` for an invalid one.

    >>> satisfies("0.1.0", ">=0.1,<1"), satisfies("1.2", "<1")
    (True, False)
    """
    for clause in specifier.split(","):
        match = re.fullmatch(r"\s*(>=|<=|==|!=|>|<)\s*([0-9][0-9.]*)\s*", clause)
        if match is None:
            raise HarnessError(f"version specifier '{specifier}' is not understood; expected something like '>=0.1,<1'")
        if not _OPERATORS[match[1]](_numbers(version), _numbers(match[2])):
            return False
    return True
