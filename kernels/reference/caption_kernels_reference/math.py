"""Elementary functions of float64 arrays with the basic operations of IEEE 754 alone:
the same bits on every machine.

NumPy's own functions depend on the processor and the C library. Intermediate values
here are pairs, unevaluated sums of two float64 with about 106 bits, so that the error
of the last addition, half a unit in the last place, is nearly all there is.

``log``
    x = 2^k m with m in [0.6875, 1.375). A table holds for each of 128 intervals of m a
    number c of ten bits close to 1/m, and -log c as a pair. r = c m - 1 is exact as a
    pair and at most 2^-7. log x = k log 2 - log c + log(1 + r), where the terms of
    log(1 + r) up to r^3/3 are pairs and the terms from r^4/4 to r^11/11 are float64. c
    = 1 next to m = 1, so that nothing cancels there.
``exp``
    x = k log(2)/128 + r with r at most 2^-8.5. exp x = 2^(k/128) (1 + r + r^2/2 + ... +
    r^7/5040); 2^(k/128) and r are pairs, the terms from r^2/2 on are float64. Results
    below 2^-1022 are rounded once, to their own precision.
``power``
    exp(y log x).
``sin``
    x = k pi/2 + r with |r| <= pi/4, for |x| <= 2^20. pi/2 is the sum of two numbers of
    33 bits, whose products with k are exact, and a third; r is a pair. Taylor's series
    up to r^17/17! and r^18/18! are float64 below their first terms.

A number, also as an array without dimensions, gives a number, an array an array of its
shape.

The order of the operations is that of ``core/math.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from caption_kernels_reference.math_tables import tables

_ROUNDER = 1.5 * 2.0**52
"""Adding and subtracting it rounds to an integer."""
_SMALLEST = 2.0**-1022
"""Smallest normal number."""
_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
_HALF_PI = tuple(
    map(float.fromhex, ("0x1.921fb544p0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69"))
)
"""pi/2 as two numbers of 33 bits and a third."""
_SINE = tuple((-1) ** ((k - 1) // 2) / factorial(k) for k in range(17, 1, -2))
_COSINE = tuple((-1) ** (k // 2) / factorial(k) for k in range(18, 2, -2))
"""Coefficients of Taylor's series below the first terms,
that of the highest power first.
"""


class _Pair(NamedTuple):
    """An unevaluated sum; ``low`` is at most half a unit in the last place of
    ``high``.
    """

    high: np.ndarray
    low: np.ndarray


def _keep_numbers(function: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Return a function of arrays that returns a float where its first argument is a
    number or an array without dimensions.
    """

    @wraps(function)
    def apply(x: ArrayLike, *others: float) -> Any:
        result = function(x, *others)
        return result if np.ndim(x) else float(result)

    return apply


@_keep_numbers
def log(x: ArrayLike) -> np.ndarray:
    """Return the natural logarithm of each number, float64 of the same shape.

    >>> log([1.0, 0.0]).tolist()
    [0.0, -inf]
    """
    x = np.asarray(x, dtype=np.float64)
    regular = (x > 0) & (x < np.inf)
    with np.errstate(all="ignore"):
        high, low = _log_pair(np.where(regular, x, 1.0))
        special = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, x))
        return np.where(regular, high + low, special)


@_keep_numbers
def exp(x: ArrayLike) -> np.ndarray:
    """Return e to the power of each number, float64 of the same shape.

    >>> exp([0.0, 1.0]).tolist()
    [1.0, 2.718281828459045]
    """
    x = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        return _exp_pair(_Pair(x, np.zeros_like(x)))


@_keep_numbers
def power(x: ArrayLike, y: float) -> np.ndarray:
    """Return each number to the power of ``y``, float64 of the same shape.

    >>> power([4.0, -2.0], 3.0).tolist()
    [64.0, -8.0]
    """
    x = np.asarray(x, dtype=np.float64)
    y = float(y)
    is_integer = bool(np.isinf(y)) or y == np.floor(y)
    odd = is_integer and abs(y) < 2.0**53 and int(y) % 2 == 1
    size = np.abs(x)
    sign = np.where(np.signbit(x) & odd, -1.0, 1.0)

    if y == 0:
        return np.ones_like(x)
    with np.errstate(all="ignore"):
        # every power of every other number than 1 overflows or vanishes
        if abs(y) > 2.0**66:
            result = sign * np.where((size > 1) == (y > 0), np.inf, 0.0)
        else:
            logarithm = _log_pair(np.where((size > 0) & (size < np.inf), size, 1.0))
            exponent = _product(logarithm.high, np.array(y))
            result = sign * _exp_pair(
                _ordered_sum(exponent.high, exponent.low + logarithm.low * y)
            )

        # The special cases of IEEE 754, which the logarithm above does not cover.
        result = np.where(size == 1, sign, result)
        result = np.where(np.signbit(x) & (not is_integer), np.nan, result)
        limits = sign * np.where((size == 0) == (y < 0), np.inf, 0.0)
        result = np.where((size == 0) | (size == np.inf), limits, result)
        if np.isinf(y):
            result = np.where(size == 1, 1.0, result)

        return np.where(
            x == 1, 1.0, np.where(np.isnan(x) | np.isnan(y), np.nan, result)
        )


@_keep_numbers
def sin(x: ArrayLike) -> np.ndarray:
    """Return the sine of each number, float64 of the same shape; NaN beyond 2^20.

    >>> sin([0.0, 1.0]).tolist()
    [0.0, 0.8414709848078965]
    """
    return turn(np.asarray(x, dtype=np.float64), 0)


def turn(x: np.ndarray, quarters: int) -> np.ndarray:
    """Return the sine of x + ``quarters`` pi/2 for numbers of at most 2^20 in absolute
    value, NaN for others.
    """
    regular = np.abs(x) <= 2.0**20
    inside = np.where(regular, x, 0.0)
    multiple = (inside * _TWO_OVER_PI + _ROUNDER) - _ROUNDER
    quarter = (multiple.astype(np.int64) & 3) + quarters
    r = _sum(inside - multiple * _HALF_PI[0], -(multiple * _HALF_PI[1]))
    r = _ordered_sum(r.high, r.low - multiple * _HALF_PI[2])
    square = r.high * r.high
    sine = np.full_like(x, _SINE[0])
    cosine = np.full_like(x, _COSINE[0])
    for first, second in zip(_SINE[1:], _COSINE[1:]):
        sine = first + square * sine
        cosine = second + square * cosine
    one = _ordered_sum(np.ones_like(x), -0.5 * square)
    value = np.where(
        quarter & 1,
        one.high + (one.low + (square * square * cosine - r.high * r.low)),
        r.high + (square * r.high * sine + r.low * (1.0 - 0.5 * square)),
    )
    return np.where(regular, np.where(quarter & 2, -value, value), np.nan)


def _sum(a: np.ndarray, b: np.ndarray) -> _Pair:
    """Return a + b exactly."""
    high = a + b
    b_part = high - a
    return _Pair(high, (a - (high - b_part)) + (b - b_part))


def _ordered_sum(a: np.ndarray, b: np.ndarray) -> _Pair:
    """Return a + b exactly, for ``|a| >= |b|``."""
    high = a + b
    return _Pair(high, b - (high - a))


def _upper_half(a: np.ndarray) -> np.ndarray:
    """Return the upper 26 bits of a."""
    shifted = 134217729.0 * a  # 2^27 + 1
    return shifted - (shifted - a)


def _product(a: np.ndarray, b: np.ndarray) -> _Pair:
    """Return a b exactly."""
    high = a * b
    a_high = _upper_half(a)
    b_high = _upper_half(b)
    a_low = a - a_high
    b_low = b - b_high
    return _Pair(
        high,
        ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low,
    )


def _pair_product(a: _Pair, b: _Pair) -> _Pair:
    high, low = _product(a.high, b.high)
    return _ordered_sum(high, low + (a.high * b.low + a.low * b.high))


def _log_pair(x: np.ndarray) -> _Pair:
    """Return the logarithm of positive finite numbers."""
    table = tables()
    subnormal = x < _SMALLEST
    x = np.where(subnormal, x * 2.0**52, x)
    bits = x.view(np.int64)
    above = bits - 0x3FE6000000000000  # 0.6875
    exponent = ((above >> 52) + np.where(subnormal, -52, 0)).astype(np.float64)
    mantissa = (bits - ((above >> 52) << 52)).view(np.float64)
    interval = (above >> 45) & 127

    upper = (mantissa.view(np.int64) & ~np.int64(0x7FFFFFF)).view(np.float64)
    reciprocal = table.reciprocals[interval]
    r = _sum(upper * reciprocal - 1.0, (mantissa - upper) * reciprocal)
    tail = np.full_like(x, 1.0 / 11)
    for coefficient in (-0.1, 1.0 / 9, -0.125, 1.0 / 7, -1.0 / 6, 0.2, -0.25):
        tail = coefficient + r.high * tail
    squared = _pair_product(r, r)
    third = _ordered_sum(
        np.full_like(x, table.third[0]), table.third[1] + r.high * tail
    )
    cubic = _pair_product(_pair_product(squared, r), third)

    log_high, log_low = table.logs[:, interval]
    s1 = _sum(exponent * table.log2[0], log_high)
    s2 = _sum(s1.high, r.high)
    s3 = _sum(s2.high, -0.5 * squared.high)
    s4 = _sum(s3.high, cubic.high)
    low_sum = (exponent * table.log2[1] + log_low) + (
        r.low - 0.5 * squared.low + cubic.low
    )
    return _ordered_sum(s4.high, (((s1.low + s2.low) + s3.low) + s4.low) + low_sum)


def _exp_pair(x: _Pair) -> np.ndarray:
    """Return e to the power of the pairs."""
    table = tables()
    regular = (x.high >= -746.0) & (x.high <= 710.0)
    high = np.where(regular, x.high, 0.0)
    low = np.where(regular, x.low, 0.0)

    # exp(x) = 2 ** (steps / 128) * exp(r) with a small r, whose series converges soon.
    rounded = (high * table.steps_per_unit + _ROUNDER) - _ROUNDER
    steps = rounded.astype(np.int64)
    r = _sum(high - rounded * table.step[0], low - rounded * table.step[1])
    t = r.high

    tail = np.full_like(t, 1.0 / 5040)
    for coefficient in (1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5):
        tail = coefficient + t * tail
    tail = t * t * tail
    less_one = _ordered_sum(t, r.low + (tail + t * r.low))

    root = _Pair(*table.roots[:, steps & 127])
    change = _pair_product(root, less_one)
    result = _ordered_sum(root.high, change.high)
    scaled = _scale_exponent(
        result.high, result.low + (root.low + change.low), steps >> 7
    )

    special = np.where(np.isnan(x.high), np.nan, np.where(x.high > 0, np.inf, 0.0))
    return np.where(regular, scaled, special)


def _scale_exponent(
    high: np.ndarray, low: np.ndarray, exponent: np.ndarray
) -> np.ndarray:
    """Return (high + low) 2^exponent with one rounding; ``high`` is in [0.9, 2.1)."""
    rounded = high + low
    large = rounded * 2.0**1023 * _power_of_two(np.maximum(exponent - 1023, 0))
    normal = rounded * _power_of_two(np.clip(exponent, -1022, 1023))
    # Between 1 and 2 the spacing is 2^-52: that of the results, after the
    # multiplication by 2^-1022.
    scale = _power_of_two(np.minimum(exponent + 1022, 0))
    shifted = _ordered_sum(np.ones_like(high), high * scale)
    small = ((shifted.high + (shifted.low + low * scale)) - 1.0) * _SMALLEST
    is_normal = (exponent > -1022) | ((exponent == -1022) & (rounded >= 1.0))
    return np.where(exponent > 1023, large, np.where(is_normal, normal, small))


def _power_of_two(exponent: np.ndarray) -> np.ndarray:
    """Return 2^exponent for exponents from -1022 to 1023."""
    return ((exponent + 1023) << 52).view(np.float64)
