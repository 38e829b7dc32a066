"""Tables of logarithm and exponential, computed to 50 digits with :mod:`decimal`.

``python -m caption_kernels_reference.math_tables`` prints ``core/math_tables.inc``, the
same numbers for the compiled version.
"""

from __future__ import annotations

import sys
from decimal import Decimal, localcontext
from functools import cache
from typing import NamedTuple

import numpy as np

N = 128
"""Intervals of the mantissa for the logarithm,
and steps of the exponential per factor of 2.
"""
FIRST = 0.6875
"""Smallest mantissa of the logarithm."""
_DIGITS = 50


class Tables(NamedTuple):
    """Constants; a pair is a number as the sum of two float64."""

    reciprocals: np.ndarray
    """(N,) numbers c of ten bits, close to the reciprocal of the middle of each
    interval; 1 next to 1.
    """
    logs: np.ndarray
    """(2, N) pairs of -log c."""
    roots: np.ndarray
    """(2, N) pairs of 2^(j/N)."""
    third: tuple[float, float]
    """Pair of 1/3."""
    log2: tuple[float, float]
    """Pair of log 2; the first has 42 bits, so that its product with an exponent is
    exact.
    """
    step: tuple[float, float]
    """Pair of log(2)/N; the first has 35 bits."""
    steps_per_unit: float
    """N / log 2."""


@cache
def tables() -> Tables:
    """Return the tables."""
    with localcontext() as context:
        context.prec = _DIGITS
        log2 = Decimal(2).ln()
        reciprocals = [_reciprocal(*_interval(i)) for i in range(N)]
        logs = [_pair(-Decimal(c).ln()) for c in reciprocals]
        roots = [_pair((log2 * j / N).exp()) for j in range(N)]
        return Tables(
            np.array(reciprocals),
            np.array(logs).T.copy(),
            np.array(roots).T.copy(),
            _pair(Decimal(1) / 3),
            _pair(log2, bits=42),
            _pair(log2 / N, bits=35),
            float(N / log2),
        )


def _interval(index: int) -> tuple[float, float]:
    """Return the bounds of an interval: of width 1/128 above 1,
    of width 1/256 below.
    """
    below = round((1 - FIRST) * 2 * N)
    if index < below:
        return FIRST + index / (2 * N), FIRST + (index + 1) / (2 * N)
    return 1 + (index - below) / N, 1 + (index - below + 1) / N


def _reciprocal(start: float, stop: float) -> float:
    if 1.0 in (start, stop):
        return 1.0
    return round(2048 / (start + stop)) / 1024


def _pair(value: Decimal, bits: int = 53) -> tuple[float, float]:
    """Return a number as a pair whose first part is rounded to ``bits`` bits."""
    high = float(value)
    if bits < 53:
        scale = 2.0 ** (bits - np.frexp(high)[1])
        high = float(np.rint(high * scale) / scale)
    return high, float(value - Decimal(high))


def source() -> str:
    """Return the tables as C++."""
    t = tables()
    lines = ["// Written by caption_kernels_reference.math_tables; do not edit."]
    for name, (high, low) in (("THIRD", t.third), ("LOG2", t.log2), ("STEP", t.step)):
        lines += [
            f"constexpr double {name}_HIGH = {high.hex()};",
            f"constexpr double {name}_LOW = {low.hex()};",
        ]
    lines.append(f"constexpr double STEPS_PER_UNIT = {t.steps_per_unit.hex()};")
    lines.append(f"constexpr LogInterval LOG_INTERVALS[{N}] = {{")
    lines += [
        f"    {{{c.hex()}, {high.hex()}, {low.hex()}}},"
        for c, high, low in zip(t.reciprocals.tolist(), *t.logs.tolist(), strict=True)
    ]
    lines += ["};", f"constexpr double ROOTS[{N}][2] = {{"]
    lines += [
        f"    {{{high.hex()}, {low.hex()}}},"
        for high, low in zip(*t.roots.tolist(), strict=True)
    ]
    return "\n".join([*lines, "};", ""])


if __name__ == "__main__":
    sys.stdout.write(source())
