"""Pinned outputs: what a program printed once, compared line by line,
numbers with a tolerance.

A pinned output says that nothing moved, not that it was right: other tests compare with
formulas, other implementations and published values. ``HARNESS_PIN=write`` in the
environment writes the files of ``tests/golden/pinned``; read the difference before it
is committed.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "pinned"
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?|(?<![\w.])-?\d+e[-+]?\d+")
DOUBLE_PRECISION = 1e-8
_ABSOLUTE = 1e-11
"""Tolerance of numbers, for processors with other orders of sums."""
SINGLE_PRECISION = 1e-5
"""Relative tolerance of numbers that a model computes in single precision."""


def as_text(value: Any) -> str:
    """Return a value of JSON as lines, one for each number or text, with its path."""
    lines: list[str] = []

    def visit(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key in sorted(value):
                visit(value[key], f"{path}.{key}" if path else str(key))
        elif (
            isinstance(value, list | tuple)
            and value
            and all(
                isinstance(item, int | float) and not isinstance(item, bool)
                for item in value
            )
        ):
            lines.append(f"{path}: {' '.join(repr(item) for item in value)}")
        elif isinstance(value, list | tuple):
            for index, item in enumerate(value):
                visit(item, f"{path}[{index}]")
        else:
            lines.append(f"{path}: {json.dumps(value, ensure_ascii=False)}")

    visit(value, "")
    return "\n".join(lines) + "\n"


def assert_pinned(
    name: str,
    text: str,
    relative: float = DOUBLE_PRECISION,
    absolute: float = _ABSOLUTE,
) -> None:
    """Compare a text with ``tests/golden/pinned/NAME`` within tolerances, or write it
    where ``HARNESS_PIN`` is ``write``.
    """
    path = FOLDER / name
    text = "\n".join(line.rstrip() for line in text.split("\n")).strip("\n") + "\n"
    if os.environ.get("HARNESS_PIN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    expected = path.read_text(encoding="utf-8").split("\n")
    found = text.split("\n")
    for number, (old, new) in enumerate(zip(expected, found), 1):
        assert _same(old, new, relative, absolute), (
            f"{path.name}, line {number}\npinned {old}\nfound  {new}"
        )
    assert len(found) == len(expected), (
        f"{path.name}: {len(found)} lines for {len(expected)}: "
        f"{(found + expected)[min(len(found), len(expected))]}"
    )


def _same(old: str, new: str, relative: float, absolute: float) -> bool:
    if old == new:
        return True
    numbers = [
        [float(number) for number in _NUMBER.findall(line)] for line in (old, new)
    ]
    return (
        _NUMBER.sub("#", old) == _NUMBER.sub("#", new)
        and len(numbers[0]) == len(numbers[1])
        and all(
            math.isclose(a, b, rel_tol=relative, abs_tol=absolute)
            for a, b in zip(*numbers)
        )
    )
