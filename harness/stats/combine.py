"""Combination of p-values: Fisher's test with its discrete null, harmonic mean and its
test, and Benjamini-Hochberg counts.

All functions take p-values in (0, 1] of any shape and omit NaN (examples whose metric
is undefined). Other values raise ValueError.

:func:`calibrated_p` is the combined p-value of permutation p-values of independent
examples. Such p-values are discrete, k / M for M relabelings; the laws of
:func:`fisher` and :func:`harmonic_mean_test` hold for continuous p-values and reject
too seldom for discrete ones. The harmonic mean itself is no p-value: at most 0.05 is
not reached for a small M, and reached too often for a large one.
``benchmarks/combination.py`` simulates the size and the power of all of them.

D. J. Wilson 2019, *The harmonic mean p-value for combining dependent tests*, PNAS
116(4): p = 1 / sum(w / p) with weights that sum to 1. It approximates a p-value; the
approximation becomes worse as the number of tests grows. Under the null hypothesis 1/p
tends to a Landau distribution (an extremal stable law with index 1), from which the
asymptotically exact test takes its p-value.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from caption_kernels import exp, log, sin
from harness.stats.discrete_null import SumNull

SMALLEST = sys.float_info.min
"""Smallest value of :func:`calibrated_p`; smaller p-values are returned as this,
:func:`log_calibrated_p` has their logarithm.
"""
MAX_RANKS = 1 << 18
"""Maximum number of distinct p-values of one example in the discrete null; finer ones
are rounded up, which is conservative.
"""
_EULER = 0.57721566490153286


def _check_p_values(p: ArrayLike) -> np.ndarray:
    """Return the p-values as a flat float64 array without NaN; raise ValueError for
    none or values outside (0, 1].
    """
    values = np.asarray(p, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not len(values):
        raise ValueError("no p-values to combine")
    bad = (values <= 0) | (values > 1)
    if bad.any():
        raise ValueError(f"p-values lie in (0, 1]; found {values[bad][0]!r}")
    return values


def harmonic_mean_p(p: ArrayLike) -> float:
    """Return the harmonic mean of p-values (L,): L / sum(1 / p).

    Raises ValueError without p-values, and for p-values outside (0, 1].

    >>> harmonic_mean_p([0.5, 0.25])
    0.3333333333333333
    """
    return 1.0 / _mean_reciprocal(_check_p_values(p))


def _mean_reciprocal(p: np.ndarray) -> float:
    """Return the mean of 1 / p over p-values (L,)."""
    return float(np.sum(1.0 / len(p) / p))


def log_harmonic_mean_p(p: ArrayLike) -> float:
    """Return the natural logarithm of :func:`harmonic_mean_p` of p-values (L,), the
    form in the tables of Chan et al. (2022).
    """
    return log(harmonic_mean_p(p))


def harmonic_mean_test(p: ArrayLike) -> float:
    """Return the asymptotically exact p-value of the harmonic mean of p-values (L,).

    It is P(X >= 1 / p) for the Landau law of Wilson (2019), equation 4. For L
    independent uniform p-values, sum(w / p) tends to a Landau variable with location
    -sum(w log w) + 1 - Euler's constant (log L + 0.4228 for equal weights; in Wilson's
    other parametrisation log L + 0.874 with scale pi / 2). Dependence between the
    p-values changes the law little, least in its tail. A single p-value is returned
    unchanged.
    """
    values = _check_p_values(p)
    if len(values) == 1:
        return float(values[0])
    shares = np.full(len(values), 1.0 / len(values))
    location = -float(np.sum(shares * log(shares))) + 1.0 - _EULER
    return landau_tail(_mean_reciprocal(values) - location)


def landau_tail(x: float) -> float:
    """Return P(X >= x) of the standard Landau distribution; the relative error is below
    1e-8 for any x.

    For x > 0 the value is (1/pi) int_0^inf exp(-t x - t log t) sin(pi t) / t dt, which
    is accurate in the far tail (where it is about 1/x). For x <= 0, where that
    integrand grows without bound, the characteristic function exp(-pi |u| / 2 - i u log
    |u|) is inverted.

    >>> round(landau_tail(0.0), 6), round(1e6 * landau_tail(1e6), 3)
    (0.713167, 1.0)
    """
    integrate: Any = importlib.import_module("scipy.integrate")  # without types

    def integral(
        function: Callable[[float], float], low: float, high: float, absolute: float
    ) -> float:
        result = cast(
            "tuple[float, float]",
            integrate.quad(
                function, low, high, epsabs=absolute, epsrel=1e-11, limit=400
            ),
        )
        return float(result[0])

    if x > 0:
        scale = max(1.0, x)

        def right(v: float) -> float:
            if v <= 0:
                return math.pi / scale  # the limit at 0
            t = v / scale
            return exp(-t * x - t * log(t)) * sin(math.pi * t) / v

        # The integrand falls fast: pieces of growing length.
        value = sum(integral(right, a, b, 0) for a, b in ((0, 1), (1, 8), (8, 60)))
        return float(value) / math.pi

    def left(u: float) -> float:
        return exp(-0.5 * math.pi * u) * sin(u * x + u * log(u)) / u if u > 0 else 0.0

    # Pieces that grow with u: the integrand oscillates ever faster towards 0.
    pieces = ((0, 1e-6), (1e-6, 1e-3), (1e-3, 0.1), (0.1, 1), (1, 5), (5, 25))
    value = sum(integral(left, a, b, 1e-13) for a, b in pieces)
    return min(1.0, 0.5 - value / math.pi)


def fisher(p: ArrayLike) -> float:
    """Return Fisher's combined p-value of independent p-values (L,): P(chi-squared with
    2L degrees of freedom >= -2 sum log p).

    Source: R. A. Fisher (1932), *Statistical Methods for Research Workers*, section
    21.1.

    >>> round(fisher([0.05, 0.05]), 6)
    0.017479
    """
    values = _check_p_values(p)
    count = len(values)
    mean = float(-log(values).sum())
    # For 2L degrees of freedom it is the probability of fewer than L events of a
    # Poisson law. Its terms are relative to the most probable number, so that none
    # underflows.
    mode = int(mean)
    last = max(count, mode) + int(40 * math.sqrt(mean + 1)) + 40
    below = np.cumprod(np.arange(mode, 0, -1) / mean)[::-1] if mode else np.zeros(0)
    above = np.cumprod(mean / np.arange(mode + 1, last))
    terms = np.concatenate([below, [1.0], above])
    return float(terms[:count].sum() / terms.sum())


def calibrated_p(p: ArrayLike, floors: ArrayLike) -> float:
    """Return the combined p-value of permutation p-values of independent examples,
    in (0, 1].

    The statistic is Fisher's, -sum log p. Its null distribution is exact for the
    discrete p-values: without ties p is uniform on 1 / M, 2 / M, ..., 1, where M is the
    number of relabelings of the example, and the law of the sum is a convolution
    (:class:`harness.stats.discrete_null.SumNull`), enumerated where it has few values
    and else rounded to a grid. Ties between relabelings make p-values larger than
    uniform ones; the result is then conservative: at most its nominal share of null
    runs is rejected. This holds for mirrored statistics with n = m (every relabeling
    ties with its complement) and for metrics with few distinct values.

    Parameters
    ----------
    p : array
        p-values in (0, 1], any shape, NaN for examples without one.
    floors : array or float
        Smallest p-value of each example's design, 1 / M, in the shape of ``p`` or one
        for all: 1 / C(n + m, n) for an exact test, 1 / (draws + 1) for Monte Carlo.

    Returns
    -------
    float
        Smaller is more significant; at least :data:`SMALLEST`. One p-value is returned
        unchanged.

    Raises
    ------
    ValueError
        No p-values, values outside (0, 1], or floors of another shape.

    References
    ----------
    R. A. Fisher (1932), *Statistical Methods for Research Workers*, section 21.1. H. O.
    Lancaster (1949), *The combination of probabilities arising from data in discrete
    distributions*, Biometrika 36(3/4), on discrete p-values.

    Examples
    --------
    >>> calibrated_p([0.2], 0.2), round(calibrated_p([0.2, 0.2], 0.2), 12)
    (0.2, 0.04)
    """
    logarithm = log_calibrated_p(p, floors)
    values = _check_p_values(p)
    return float(values[0]) if len(values) == 1 else max(exp(logarithm), SMALLEST)


def log_calibrated_p(p: ArrayLike, floors: ArrayLike) -> float:
    """Return the natural logarithm of :func:`calibrated_p` of p-values (L,) and floors
    (L,), also far below the smallest float.
    """
    raw = np.asarray(p, dtype=np.float64)
    floor = np.asarray(floors, dtype=np.float64)
    if floor.shape not in ((), raw.shape):
        raise ValueError(
            f"floors of shape {floor.shape} for p-values of shape {raw.shape}"
        )

    floor = np.broadcast_to(floor, raw.shape)[~np.isnan(raw)].ravel()
    values = _check_p_values(raw)
    if not (floor > 0).all() or not (floor <= 1).all():
        raise ValueError("floors of p-values lie in (0, 1]")
    if len(values) == 1:
        return log(values[0])
    # Rank of each p-value among those of its design; rounded up, so that it never
    # falls.
    numbers = np.minimum(np.rint(1.0 / floor), MAX_RANKS).astype(np.int64)
    ranks = np.clip(np.ceil(values * numbers - 1e-6), 1, numbers).astype(np.int64)

    designs, counts = np.unique(numbers, return_counts=True)
    null = fisher_null(tuple(designs.tolist()), tuple(counts.tolist()))
    return null.log_p([ranks[numbers == design] for design in designs])


@lru_cache(maxsize=8)
def fisher_null(designs: tuple[int, ...], counts: tuple[int, ...]) -> SumNull:
    """Return the law of Fisher's statistic for counts of examples whose p-values are
    uniform on 1 / M, ..., 1.
    """
    return SumNull([-log(np.arange(1, size + 1) / size) for size in designs], counts)


def count_discoveries(p: ArrayLike, fdr: float = 0.05) -> int:
    """Return the number of hypotheses that are rejected at a false discovery rate, for
    p-values of any shape, such as (L,).

    Source: Benjamini and Hochberg (1995), *Controlling the False Discovery Rate*, JRSS
    B 57(1), procedure (1). Raises ValueError for a rate outside (0, 1).

    >>> count_discoveries([0.01, 0.9, 0.02, 0.04], fdr=0.05)
    2
    """
    if not 0 < fdr < 1:
        raise ValueError(f"a false discovery rate lies in (0, 1); found {fdr!r}")
    ordered = np.sort(_check_p_values(p))
    bounds = fdr * np.arange(1, len(ordered) + 1) / len(ordered)
    passes = np.flatnonzero(ordered <= bounds)
    if not len(passes):
        return 0
    # P-values equal to the last one that passes are rejected with it.
    return int(np.sum(ordered <= ordered[passes[-1]]))
