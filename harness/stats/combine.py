"""One p-value from many: harmonic mean, its Landau-corrected test, Fisher, and Benjamini-Hochberg counts.

All take p-values in (0, 1]; NaN (an example whose metric is undefined) is left out. Anything else raises ValueError.

D. J. Wilson 2019, *The harmonic mean p-value for combining dependent tests*, PNAS 116(4):
p = 1 / sum(w / p) with weights that sum to 1. It is interpretable as a p-value only approximately, and the less so the more
tests there are; under the null 1/p follows, for many tests, a Landau distribution (an extremal stable law with index 1),
from which the asymptotically exact test reads its p-value.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

_EULER = 0.57721566490153286


class Discoveries(NamedTuple):
    """Result of :func:`benjamini_hochberg`."""

    count: int
    """How many hypotheses are rejected."""
    mask: np.ndarray
    """Which ones, bool, in the shape of the input; NaN is never rejected."""


def _checked(p: np.ndarray) -> np.ndarray:
    p = np.asarray(p, dtype=np.float64).ravel()
    p = p[~np.isnan(p)]
    if not len(p):
        raise ValueError("no p-values to combine")
    bad = (p <= 0) | (p > 1)
    if bad.any():
        raise ValueError(f"p-values lie in (0, 1]; found {p[bad][0]!r}")
    return p


def _weighted(p: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if weights is None:
        p = _checked(p)
        return p, np.full(len(p), 1.0 / len(p))
    w = np.asarray(weights, dtype=np.float64).ravel()
    raw = np.asarray(p, dtype=np.float64).ravel()
    if w.shape != raw.shape:
        raise ValueError(f"{len(w)} weights for {len(raw)} p-values")
    w = w[~np.isnan(raw)]
    if (w < 0).any() or not w.sum() > 0:
        raise ValueError("weights are not negative and not all 0")
    return _checked(p), w / w.sum()


def harmonic_mean_p(p: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Harmonic mean of p-values, L / sum(1 / p), or 1 / sum(w / p) with weights (scaled to sum to 1).

    >>> harmonic_mean_p([0.5, 0.25])
    0.3333333333333333
    """
    p, w = _weighted(p, weights)
    return float(1.0 / np.sum(w / p))


def log_harmonic_mean_p(p: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Natural logarithm of :func:`harmonic_mean_p`: what the paper's tables and figures show."""
    return math.log(harmonic_mean_p(p, weights))


def harmonic_mean_test(p: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The asymptotically exact p-value of the harmonic mean: P(X >= 1 / p) for the Landau law of Wilson 2019, eq. 4.

    For L independent uniform p-values, sum(w / p) tends to a Landau variable at -sum(w log w) + 1 - Euler's constant
    (log L + 0.4228 for equal weights; in Wilson's other parametrisation log L + 0.874 with scale pi / 2). Dependent
    p-values shift the law little, above all in its tail. A single p-value is returned as it is.
    """
    p, w = _weighted(p, weights)
    if len(p) == 1:
        return float(p[0])
    used = w[w > 0]
    location = -float(np.sum(used * np.log(used))) + 1.0 - _EULER
    return landau_tail(float(np.sum(w / p)) - location)


def landau_tail(x: float) -> float:
    """P(X >= x) of the standard Landau distribution, relative error below 1e-8 for any x.

    Right of 0 from (1/pi) int_0^inf exp(-t x - t log t) sin(pi t) / t dt, which keeps its relative accuracy in the far
    tail (where it is about 1/x); left of it by inverting the characteristic function
    exp(-pi |u| / 2 - i u log |u|), whose integrand stays bounded where the first one grows beyond measure.
    """
    from scipy.integrate import quad

    if x > 0:
        scale = max(1.0, x)

        def right(v: float) -> float:
            t = v / scale
            return math.exp(-t * x - (t * math.log(t) if t > 0 else 0.0)) * math.pi * np.sinc(t) / scale

        value = sum(quad(right, a, b, epsabs=0, epsrel=1e-11, limit=400)[0] for a, b in ((0, 1), (1, 8), (8, 60)))
        return float(value) / math.pi

    def left(u: float) -> float:
        return math.exp(-0.5 * math.pi * u) * math.sin(u * x + u * math.log(u)) / u if u > 0 else 0.0

    pieces = ((0, 1e-6), (1e-6, 1e-3), (1e-3, 0.1), (0.1, 1), (1, 5), (5, 25))
    value = sum(quad(left, a, b, epsabs=1e-13, epsrel=1e-11, limit=400)[0] for a, b in pieces)
    return min(1.0, 0.5 - value / math.pi)


def fisher(p: np.ndarray) -> float:
    """Fisher's combination: P(chi-squared with 2L degrees >= -2 sum log p). For independent p-values only."""
    from scipy.special import gammaincc

    p = _checked(p)
    return float(gammaincc(len(p), -np.log(p).sum()))


def benjamini_hochberg(p: np.ndarray, fdr: float = 0.05) -> Discoveries:
    """How many (and which) of the hypotheses differ at a false discovery rate (Benjamini & Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.9, 0.02, 0.04], fdr=0.05).count
    2
    """
    if not 0 < fdr < 1:
        raise ValueError(f"a false discovery rate lies in (0, 1); found {fdr!r}")
    values = np.asarray(p, dtype=np.float64)
    known = np.sort(_checked(values))
    passes = np.flatnonzero(known <= fdr * np.arange(1, len(known) + 1) / len(known))
    if not len(passes):
        return Discoveries(0, np.zeros(values.shape, dtype=bool))
    mask = values <= known[passes[-1]]
    return Discoveries(int(mask.sum()), mask)
