"""Quality against diversity of distributions:
Pareto frontier and compatibility with distribution fitting.

For a distribution Q and the real distribution P, arrays ``(M,)`` that sum to 1, quality
is U(Q) = sum Q f(P) with increasing f, and diversity is V(Q) = sum g(Q) with concave g.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and
Distribution-Fitting Goal in Text Generation" (ICML 2020): Pareto frontier (Theorem 2),
compatibility (Theorem 3), Psi and D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import InputError, require

Function = Callable[[np.ndarray], np.ndarray]
"""Elementwise function of arrays."""
_GRID = np.linspace(0.001, 0.999, 41)
"""Probabilities at which the equation of Theorem 3 is checked."""


@dataclass(frozen=True)
class Diversity:
    """Diversity measure: a strictly concave function g on (0, 1) with g(0) = 0."""

    name: str
    """Name in the paper."""
    g: Function
    """g."""
    slope: Function
    """Derivative g', decreasing."""
    inverse_slope: Function
    """Inverse of g' on its range over (0, 1)."""
    slope_at_zero: float
    """g'(0), possibly inf."""


@dataclass(frozen=True)
class Quality:
    """Quality measure: an increasing function f on (0, 1]."""

    name: str
    """Name in the paper."""
    f: Function
    """f; f(0) may be -inf."""


def _log(x: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(x)


def _entropy(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, -x * np.log(np.where(x > 0, x, 1.0)), 0.0)


LL = Quality("LL", _log)
CR = Quality("CR", lambda x: np.asarray(x, dtype=np.float64))
SE = Diversity("SE", _entropy, lambda x: -_log(x) - 1, lambda y: np.exp(-y - 1), np.inf)
NRR = Diversity("NRR", lambda x: -x * x, lambda x: -2.0 * x, lambda y: -y / 2, 0.0)


@dataclass(frozen=True)
class Pair:
    """A quality measure and a diversity measure."""

    quality: Quality
    """f."""
    diversity: Diversity
    """g."""

    @property
    def name(self) -> str:
        """Names of both measures, such as ``LL-SE``."""
        return f"{self.quality.name}-{self.diversity.name}"

    def u(self, q: np.ndarray, p: np.ndarray) -> float:
        """Return U(Q), the expectation of f(P) under Q, for arrays ``(M,)``; texts of
        probability 0 do not count.
        """
        values = self.quality.f(p)
        return float(np.sum(q[q > 0] * values[q > 0]))

    def v(self, q: np.ndarray) -> float:
        """Return V(Q) of an array ``(M,)``."""
        return float(np.sum(self.diversity.g(q)))


PAIRS = {
    pair.name: pair
    for pair in (Pair(LL, SE), Pair(CR, NRR), Pair(LL, NRR), Pair(CR, SE))
}
"""Pairs by name; LL-SE and CR-NRR are compatible with distribution fitting,
LL-NRR and CR-SE are not.
"""


def distribution(values: Any, name: str = "P") -> np.ndarray:
    """Return values as float64 ``(M,)``; raise :class:`InputError` unless they are a
    probability distribution.
    """
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or len(p) == 0:
        raise InputError(
            f"{name} has shape {p.shape}; expected a list of probabilities"
        )
    if not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise InputError(
            f"{name} is no distribution: smallest value {p.min()!r}, sum {p.sum()!r}"
        )
    return p


def pareto(pair: Pair, p: Any, w: float) -> np.ndarray:
    """Return the Pareto optimum of weight w (Theorem 2).

    Q_i = h(w f(P_i) + b), where h is the inverse of g' below g'(0) and 0 above, and b
    is such that Q sums to 1.

    Parameters
    ----------
    pair : Pair
        Measures.
    p : array_like
        Real distribution P ``(M,)``.
    w : float
        Weight, at most 0: Q is uniform for 0 and concentrates on the modes of P as w
        decreases.

    Returns
    -------
    ndarray
        Q ``(M,)``.

    Raises
    ------
    InputError
        For a positive or undefined w, and a P that is not a distribution.

    Examples
    --------
    >>> pareto(PAIRS["CR-NRR"], [0.5, 0.25, 0.25], -2.0).tolist()
    [0.5, 0.25, 0.25]
    """
    p = distribution(p)
    if not w <= 0:
        raise InputError(
            f"w is {w!r}; expected a number of at most 0", parameter="w", value=w
        )

    scores = np.zeros(len(p)) if w == 0 else w * pair.quality.f(p)
    # The multiplier b of sum Q = 1 absorbs the shift; without it exp would overflow or
    # vanish for large weights.
    scores = scores - scores.min()  # changes b only; the modes are at 0

    if pair.diversity is SE:
        q = np.exp(-scores)
        return q / q.sum()
    if pair.diversity is NRR:
        return _simplex(-scores / 2)
    return _bisection(pair.diversity, scores)


def _simplex(y: np.ndarray) -> np.ndarray:
    """Return max(0, y - t) with the t for which it sums to 1, for y ``(M,)``."""
    finite = np.sort(y[np.isfinite(y)])[::-1]
    # The threshold t is (sum of the k largest - 1) / k for the largest k whose k-th
    # value lies above it (projection on the simplex).
    sums = np.cumsum(finite) - 1
    size = np.arange(1, len(finite) + 1)
    last = int(np.flatnonzero(finite - sums / size > 0)[-1])
    return np.maximum(0.0, y - sums[last] / size[last])


def _bisection(diversity: Diversity, scores: np.ndarray) -> np.ndarray:
    """Return the optimum for any g, by bisection on b:
    the sum of Q decreases as b increases.
    """

    def q_of(b: float) -> np.ndarray:
        y = scores + b
        positive = y < diversity.slope_at_zero
        return np.where(
            positive, diversity.inverse_slope(np.where(positive, y, 0.0)), 0.0
        )

    # every mode has probability 1
    low = float(diversity.slope(np.array(1.0)))
    # every text has almost probability 0
    high = float(diversity.slope(np.array(1e-12 / len(scores))))
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if q_of(middle).sum() > 1 else (low, middle)

    q = q_of(low)
    return q / q.sum()


@dataclass(frozen=True, slots=True)
class Compatibility:
    """Coefficients of g(x) = w0 * integral of f from 0 to x + b0 * x (Theorem 3), for
    which every P is Pareto optimal.
    """

    w0: float
    """Coefficient of the integral, negative."""
    b0: float
    """Coefficient of x."""

    @property
    def alpha(self) -> float:
        """Weight of quality in Psi."""
        return self.w0 / (self.w0 - 1)


def compatibility(
    quality: Quality, diversity: Diversity, tolerance: float = 1e-8
) -> Compatibility | None:
    """Return w0 and b0 of Theorem 3 when the pair is compatible with distribution
    fitting, else None.

    Parameters
    ----------
    quality, diversity : Quality and Diversity
        Measures.
    tolerance : float, default 1e-8
        Largest misfit, relative to the largest value of g.
    """
    quad = require(
        "scipy.integrate", needed_by="compatibility with distribution fitting"
    ).quad

    def value(x: float) -> float:
        return float(quality.f(np.array(x)))

    integrals = np.array([quad(value, 0, end, limit=200)[0] for end in _GRID])

    # Theorem 3 asks for g = w0 F + b0 x as functions. A least-squares fit on a grid has
    # no residual exactly then.
    design = np.stack([integrals, _GRID], axis=1)
    target = diversity.g(_GRID)
    solution = np.linalg.lstsq(design, target, rcond=None)[0]
    misfit = np.abs(design @ solution - target).max() / np.abs(target).max()

    # + 0.0: no coefficient is -0.0
    w0, b0 = (float(round(value, 9)) + 0.0 for value in solution)
    return Compatibility(w0, b0) if misfit < tolerance and w0 < 0 else None


def psi(pair: Pair, q: Any, p: Any, alpha: float | None = None) -> float:
    """Return Psi(Q) = alpha U(Q) + (1 - alpha) V(Q) for distributions ``(M,)``.

    ``alpha`` is that of Theorem 3 by default; raises :class:`InputError` when the pair
    has none.
    """
    if alpha is None:
        coefficients = compatibility(pair.quality, pair.diversity)
        if coefficients is None:
            raise InputError(
                f"{pair.name} is not compatible with distribution fitting; "
                "Psi needs a value of alpha"
            )
        alpha = coefficients.alpha
    q = distribution(q, "Q")
    p = distribution(p)
    return alpha * pair.u(q, p) + (1 - alpha) * pair.v(q)


def divergence(pair: Pair, q: Any, p: Any, alpha: float | None = None) -> float:
    """Return D = Psi(P) - Psi(Q) of distributions ``(M,)``.

    For a compatible pair, D is at least 0, and 0 only for Q = P: half the reverse KL
    divergence for LL-SE, a third of CND for CR-NRR.

    >>> divergence(PAIRS["CR-NRR"], [0.5, 0.5], [0.5, 0.5])
    0.0
    """
    return psi(pair, p, p, alpha) - psi(pair, q, p, alpha)
