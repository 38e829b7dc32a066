"""Quality against diversity of a distribution: frontier, compatibility with distribution fitting, discrepancy.

Quality is U(Q) = sum Q f(P) with increasing f, diversity V(Q) = sum g(Q) with concave g, for a distribution Q judged by P, both
arrays (M,) that sum to 1. Source: Li et al., "On the Relation between Quality-Diversity Evaluation and Distribution-Fitting
Goal in Text Generation" (ICML 2020): Pareto frontier (Theorem 2), compatibility (Theorem 3), Psi, D, QDisc and DRate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import InputError

Function = Callable[[np.ndarray], np.ndarray]
_GRID = np.linspace(0.001, 0.999, 41)


@dataclass(frozen=True)
class Diversity:
    """A strictly concave g on (0, 1) with g(0) = 0, and what its frontier needs."""

    name: str
    g: Function
    slope: Function
    """g', decreasing."""
    inverse_slope: Function
    """The inverse of g' on its range over (0, 1)."""
    slope_at_zero: float
    """g'(0); may be inf."""


@dataclass(frozen=True)
class Quality:
    """An increasing f on (0, 1]; f(0) may be -inf."""

    name: str
    f: Function


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
    """A quality and a diversity measure."""

    quality: Quality
    diversity: Diversity

    @property
    def name(self) -> str:
        return f"{self.quality.name}-{self.diversity.name}"

    def u(self, q: np.ndarray, p: np.ndarray) -> float:
        """U(Q): expected f(P) under Q; a text that Q never gives counts nothing."""
        values = self.quality.f(p)
        return float(np.sum(q[q > 0] * values[q > 0]))

    def v(self, q: np.ndarray) -> float:
        """V(Q)."""
        return float(np.sum(self.diversity.g(q)))


PAIRS = {pair.name: pair for pair in (Pair(LL, SE), Pair(CR, NRR), Pair(LL, NRR), Pair(CR, SE))}
"""LL-SE and CR-NRR are compatible with distribution fitting; LL-NRR and CR-SE are not."""


def distribution(values: Any, name: str = "P") -> np.ndarray:
    """``values`` as float64 (M,); raises :class:`InputError` unless they are a probability distribution."""
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or len(p) == 0:
        raise InputError(f"{name} has shape {p.shape}; expected a list of probabilities")
    if not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > 1e-9:
        raise InputError(f"{name} is no distribution: least value {p.min()!r}, sum {p.sum()!r}")
    return p


# --------------------------------------------------------------------------- frontier (Theorem 2)
def pareto(pair: Pair, p: Any, w: float) -> np.ndarray:
    """The Pareto optimum Q (M,) of weight w <= 0: uniform at 0, towards the modes of P as w falls.

    Q_i = h(w f(P_i) + b), h the inverse of g' below g'(0) and 0 above it, b such that Q sums to 1. Raises :class:`InputError`
    for w > 0 or NaN.
    """
    p = distribution(p)
    if not w <= 0:
        raise InputError(f"w is {w!r}; the frontier is that of w from 0 downwards")
    scores = np.where(p > 0, 0.0, 0.0) if w == 0 else w * pair.quality.f(p)
    scores = scores - scores.min()  # a shift of b; the modes are at 0
    if pair.diversity is SE:
        q = np.exp(-scores)
        return q / q.sum()
    if pair.diversity is NRR:
        return _simplex(-scores / 2)
    return _solved(pair.diversity, scores)


def lowest_weight(pair: Pair, p: Any) -> float:
    """B of Theorem 2: from here down Q is uniform on the modes; -inf where g'(0) is infinite or P is uniform."""
    p = distribution(p)
    values = np.unique(pair.quality.f(p))
    if len(values) < 2 or np.isinf(pair.diversity.slope_at_zero):
        return -np.inf
    modes = np.count_nonzero(p == p.max())
    slope = float(pair.diversity.slope(np.array(1.0 / modes)))
    return (slope - pair.diversity.slope_at_zero) / float(values[-1] - values[-2])


def _simplex(y: np.ndarray) -> np.ndarray:
    """max(0, y - t) with the t for which it sums to 1."""
    finite = np.sort(y[np.isfinite(y)])[::-1]
    sums = np.cumsum(finite) - 1
    size = np.arange(1, len(finite) + 1)
    last = int(np.flatnonzero(finite - sums / size > 0)[-1])
    return np.maximum(0.0, y - sums[last] / size[last])


def _solved(diversity: Diversity, scores: np.ndarray) -> np.ndarray:
    """The same for any g, by bisection on b: the sum of Q falls as b rises."""

    def q_of(b: float) -> np.ndarray:
        y = scores + b
        inside = y < diversity.slope_at_zero
        return np.where(inside, diversity.inverse_slope(np.where(inside, y, 0.0)), 0.0)

    low = float(diversity.slope(np.array(1.0)))  # the modes alone would each have probability 1
    high = float(diversity.slope(np.array(1e-12 / len(scores))))  # all but nothing anywhere
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if q_of(middle).sum() > 1 else (low, middle)
    q = q_of(low)
    return q / q.sum()


# --------------------------------------------------------------------------- Theorem 3
@dataclass(frozen=True, slots=True)
class Compatibility:
    """g(x) = w0 * integral of f from 0 to x + b0 * x: every P is then Pareto optimal for itself."""

    w0: float
    b0: float

    @property
    def alpha(self) -> float:
        """The weight of quality in Psi."""
        return self.w0 / (self.w0 - 1)


def compatibility(quality: Quality, diversity: Diversity, tolerance: float = 1e-8) -> Compatibility | None:
    """The Theorem 3 test: w0 and b0 if the pair is compatible with distribution fitting, else None."""
    from scipy.integrate import quad

    integrals = np.array([quad(lambda x: float(quality.f(np.array(x))), 0, end, limit=200)[0] for end in _GRID])
    design = np.stack([integrals, _GRID], axis=1)
    target = diversity.g(_GRID)
    solution = np.linalg.lstsq(design, target, rcond=None)[0]
    misfit = np.abs(design @ solution - target).max() / np.abs(target).max()
    w0, b0 = (float(round(value, 9)) + 0.0 for value in solution)
    return Compatibility(w0, b0) if misfit < tolerance and w0 < 0 else None


def psi(pair: Pair, q: Any, p: Any, alpha: float | None = None) -> float:
    """Psi(Q) = alpha U(Q) + (1 - alpha) V(Q); alpha from Theorem 3 by default. Raises :class:`InputError` if there is none."""
    if alpha is None:
        found = compatibility(pair.quality, pair.diversity)
        if found is None:
            raise InputError(f"{pair.name} is not compatible with distribution fitting: Psi needs an alpha")
        alpha = found.alpha
    q, p = distribution(q, "Q"), distribution(p)
    return alpha * pair.u(q, p) + (1 - alpha) * pair.v(q)


def divergence(pair: Pair, q: Any, p: Any, alpha: float | None = None) -> float:
    """D = Psi(P) - Psi(Q) >= 0 for a compatible pair, 0 only for Q = P: half the reverse KL (LL-SE), CND / 3 (CR-NRR)."""
    return psi(pair, p, p, alpha) - psi(pair, q, p, alpha)


# --------------------------------------------------------------------------- discrepancy
@dataclass(frozen=True, eq=False)
class Discrepancy:
    """How much quality a distribution can gain over P at no loss of diversity."""

    qdisc: float
    drate: float
    """QDisc over the span from the quality of the most diverse distribution to the greatest one."""
    q: np.ndarray
    """The distribution that gains it, (M,)."""
    w: float | None = None
    """Its weight on the frontier, where that is known."""


def qdisc(pair: Pair, p: Any) -> Discrepancy:
    """QDisc = max U(Q) - U(P) over V(Q) >= V(P), by bisection along the frontier, on which V grows with w."""
    p = distribution(p)
    target = pair.v(p)
    if pair.v(pareto(pair, p, 0.0)) <= target:
        return _discrepancy(pair, p, pareto(pair, p, 0.0), 0.0)
    low, high = -1.0, 0.0
    while pair.v(pareto(pair, p, low)) >= target and low > -1e18:
        low, high = low * 2, low
    for _ in range(400):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if pair.v(pareto(pair, p, middle)) >= target else (middle, high)
    return _discrepancy(pair, p, pareto(pair, p, high), high)


def _discrepancy(pair: Pair, p: np.ndarray, q: np.ndarray, w: float) -> Discrepancy:
    gain = pair.u(q, p) - pair.u(p, p)
    values = pair.quality.f(p)
    span = float(values.max() - values.mean())
    return Discrepancy(gain, gain / span if span > 0 else 0.0, q, w)


def ascend(
    quality: Callable[[Any], Any],
    diversity: Callable[[Any], Any],
    p: Any,
    *,
    rng: np.random.Generator,
    starts: int = 3,
    steps: int = 2000,
    rates: Sequence[float] = (0.01, 0.03, 0.1),
    momentum: float = 0.9,
    penalty: float = 2.0,
) -> Discrepancy:
    """A lower bound of QDisc where the frontier is unknown: ascent of U(Q) - penalty * max(0, V(P) - V(Q)) from near P.

    ``quality`` (linear in Q) and ``diversity`` (concave) map a torch tensor (M,) to a scalar. Q is a softmax of logits moved by
    SGD with momentum, each start with the next of ``rates``, falling to 0. Only points with V not below V(P) count; one
    that is below is first mixed with as much of the uniform distribution as it takes. The paper's penalty is 2; it must exceed
    the price of diversity at the optimum (-1 / w there), or the ascent leaves the constraint and finds little.
    """
    from harness.errors import require

    torch = require("torch", extra="models", needed_by="constrained ascent")
    p = distribution(p)
    uniform = torch.full((len(p),), 1 / len(p), dtype=torch.float64)
    with torch.no_grad():
        u_p, v_p = quality(torch.tensor(p)).item(), diversity(torch.tensor(p)).item()
        span = (
            max(quality(vertex).item() for vertex in torch.eye(len(p), dtype=torch.float64)) - quality(uniform).item()
        )
    best, gain = p, 0.0
    for start in range(starts):
        noise = rng.normal(0, 0.0 if start < len(rates) else 0.3, len(p))
        logits = torch.tensor(np.log(np.maximum(p, 1e-12)) + noise, requires_grad=True)
        rate = rates[start % len(rates)]
        optimizer = torch.optim.SGD([logits], lr=rate, momentum=momentum)
        for step in range(steps):
            optimizer.param_groups[0]["lr"] = rate * len(p) * (1 - step / steps)
            q = torch.softmax(logits, 0)
            if step % 25 == 24 or step == steps - 1:
                with torch.no_grad():
                    point = _made_feasible(q.detach(), uniform, diversity, v_p)
                    if quality(point).item() - u_p > gain:
                        best, gain = point.numpy().copy(), quality(point).item() - u_p
            loss = -(quality(q) - penalty * torch.clamp(v_p - diversity(q), min=0))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return Discrepancy(gain, gain / span if span > 0 else 0.0, best)


def _made_feasible(q: Any, uniform: Any, diversity: Callable[[Any], Any], target: float) -> Any:
    """The mixture of q with the least uniform share whose diversity is at least ``target``."""
    if diversity(q).item() >= target:
        return q
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = diversity((1 - middle) * q + middle * uniform).item() >= target
        low, high = (low, middle) if enough else (middle, high)
    return (1 - high) * q + high * uniform


# --------------------------------------------------------------------------- curves of real corpora
@dataclass(frozen=True, slots=True)
class CurveDiscrepancy:
    """Where a corpus lies below a curve of mixtures with noise."""

    curve_quality: float
    """Quality of the curve at the diversity of the corpus, linearly interpolated."""
    qdisc: float
    self_ratio: float
    """QDisc over the quality of the corpus; NaN where that is 0."""
    ref_ratio: float
    """QDisc over the quality that the curve loses from its first point to its second; NaN where it loses none."""


def curve_discrepancy(quality: Any, diversity: Any, corpus_quality: float, corpus_diversity: float) -> CurveDiscrepancy:
    """QDisc and ratios of a corpus against the curve through (quality, diversity) points, given in mixing order.

    Raises :class:`InputError` when the corpus' diversity lies outside the curve, or the curve has fewer than two points.
    """
    u, v = np.asarray(quality, dtype=np.float64), np.asarray(diversity, dtype=np.float64)
    if u.shape != v.shape or u.ndim != 1 or len(u) < 2:
        raise InputError(f"a curve needs two or more (quality, diversity) points; found shapes {u.shape} and {v.shape}")
    order = np.argsort(v, kind="stable")
    if not v[order[0]] <= corpus_diversity <= v[order[-1]]:
        raise InputError(
            f"the diversity {corpus_diversity:g} lies outside the curve's, {v[order[0]]:g} to {v[order[-1]]:g}"
        )
    at = float(np.interp(corpus_diversity, v[order], u[order]))
    gain = at - corpus_quality
    return CurveDiscrepancy(at, gain, ratio(gain, corpus_quality), ratio(gain, float(u[0] - u[1])))


def ratio(gain: float, whole: float) -> float:
    """``gain / whole``; NaN, undefined, where the whole is 0 (a corpus without quality, a curve that loses none).

    >>> ratio(1.0, 4.0), ratio(1.0, 0.0)
    (0.25, nan)
    """
    return float(gain) / float(whole) if whole != 0 else float("nan")
