"""Discrepancies QDisc and DRate: how much quality can be gained over the real
distribution without loss of diversity.

Exact by the known frontier, or bounded by gradient ascent for other pairs.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and
Distribution-Fitting Goal in Text Generation" (ICML 2020), sections 4 and 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import require
from harness_tasks.text_spaces.frontier import Pair, distribution, pareto


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """Largest gain of quality over P without loss of diversity."""

    qdisc: float
    """Gain of quality, at least 0."""
    drate: float
    """QDisc over the difference between the largest quality and that of the most
    diverse distribution.
    """
    q: np.ndarray
    """Distribution with that gain, ``(M,)``."""
    w: float | None = None
    """Weight of the distribution on the frontier; None when the frontier is unknown."""


def qdisc(pair: Pair, p: Any) -> Discrepancy:
    """Return QDisc = max U(Q) - U(P) over V(Q) >= V(P), by bisection along the
    frontier, where V increases with w.

    ``p`` is the real distribution ``(M,)``; raises :class:`InputError` unless it is a
    distribution.
    """
    p = distribution(p)
    target = pair.v(p)
    # the uniform distribution, with the largest diversity
    if pair.v(pareto(pair, p, 0.0)) <= target:
        return _discrepancy(pair, p, pareto(pair, p, 0.0), 0.0)

    # Diversity falls with the weight: double it until the frontier is less diverse than
    # P, then halve the bracket.
    low, high = -1.0, 0.0
    while pair.v(pareto(pair, p, low)) >= target and low > -1e18:
        low, high = low * 2, low
    for _ in range(400):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        enough = pair.v(pareto(pair, p, middle)) >= target
        low, high = (low, middle) if enough else (middle, high)
    return _discrepancy(pair, p, pareto(pair, p, high), high)


def _discrepancy(pair: Pair, p: np.ndarray, q: np.ndarray, w: float) -> Discrepancy:
    """Return the discrepancy of a point of the frontier."""
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
    trace: dict[int, float] | None = None,
) -> Discrepancy:
    """Return a lower bound of QDisc by constrained gradient ascent,
    for pairs with an unknown frontier.

    SGD with momentum maximises U(Q) - penalty * max(0, V(P) - V(Q)) over the logits of
    Q, from starts near P. The learning rate decreases linearly to 0. A point with V(Q)
    below V(P) is mixed with the smallest sufficient share of the uniform distribution
    before it counts.

    Parameters
    ----------
    quality, diversity : callable
        Functions of a torch tensor ``(M,)`` that return a scalar; quality is linear and
        diversity concave.
    p : array_like
        Real distribution P ``(M,)``.
    rng : numpy.random.Generator
        Source of the noise of the starts after the first ``len(rates)``.
    starts, steps : int, default 3 and 2000
        Number of starts, and of steps per start.
    rates : sequence of float, default (0.01, 0.03, 0.1)
        Learning rates, one per start in turn, times M.
    momentum : float, default 0.9
        Momentum of SGD.
    penalty : float, default 2.0
        Weight of the constraint, 2 in the paper. It must exceed -1 / w at the optimum,
        the price of diversity, or the ascent leaves the constraint and the bound is
        loose.
    trace : dict, optional
        Filled with the gain every 25 steps and at the last one, the largest of the
        starts; 0 where no start dominates P.

    Raises
    ------
    MissingExtra
        When torch is not installed.
    """
    torch = require("torch", extra="models", needed_by="constrained ascent")
    p = distribution(p)
    uniform = torch.full((len(p),), 1 / len(p), dtype=torch.float64)
    u_p = quality(torch.tensor(p)).item()
    v_p = diversity(torch.tensor(p)).item()

    def loss(q: Any) -> Any:
        # An exact penalty: above the price of diversity at the optimum, leaving the
        # constraint never pays.
        return -(quality(q) - penalty * torch.clamp(v_p - diversity(q), min=0))

    best = p
    gain = 0.0
    for start in range(starts):
        # The first starts are P itself under each learning rate; the noise of later
        # ones leaves flat regions around P.
        spread = 0.0 if start < len(rates) else 0.3
        logits = _logits_near(p, rng.normal(0, spread, len(p)))
        for step, q in _climb(logits, loss, steps, rates[start % len(rates)], momentum):
            # A bound counts only when the constraint holds. V is concave and largest
            # for the uniform distribution, so that enough of it always restores V.
            point = _mixed_to(q, uniform, diversity, v_p)
            reached = quality(point).item() - u_p
            if reached > gain:
                best = point.numpy().copy()
                gain = reached
            if trace is not None:
                trace[step] = max(trace.get(step, 0.0), reached)

    span = _quality_span(quality, uniform)
    return Discrepancy(gain, gain / span if span > 0 else 0.0, best)


def _quality_span(quality: Callable[[Any], Any], uniform: Any) -> float:
    """Return the difference between the largest quality and that of the uniform
    distribution, a tensor ``(M,)``.
    """
    torch = require("torch", extra="models", needed_by="constrained ascent")
    # Quality is linear in Q, so that its maximum over distributions is attained by a
    # single text.
    vertices = torch.eye(len(uniform), dtype=torch.float64)
    return max(quality(vertex).item() for vertex in vertices) - quality(uniform).item()


def _logits_near(p: np.ndarray, noise: np.ndarray) -> Any:
    """Return logits of P with noise, both ``(M,)``, as a tensor that takes gradients.

    Logits keep Q on the simplex without a projection.
    """
    torch = require("torch", extra="models", needed_by="constrained ascent")
    return torch.tensor(np.log(np.maximum(p, 1e-12)) + noise, requires_grad=True)


def _climb(
    logits: Any, loss: Callable[[Any], Any], steps: int, rate: float, momentum: float
) -> Iterator[tuple[int, Any]]:
    """Minimise a loss of softmax(logits) by SGD; yield the number of the step and Q
    ``(M,)`` at every 25th step and the last.
    """
    torch = require("torch", extra="models", needed_by="constrained ascent")
    optimizer = torch.optim.SGD([logits], lr=rate, momentum=momentum)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * len(logits) * (1 - step / steps)
        q = torch.softmax(logits, 0)
        if step % 25 == 24 or step == steps - 1:
            yield step + 1, q.detach()
        optimizer.zero_grad()
        loss(q).backward()
        optimizer.step()


def _mixed_to(
    q: Any, uniform: Any, diversity: Callable[[Any], Any], target: float
) -> Any:
    """Return the mixture of q with the smallest uniform share whose diversity is at
    least ``target``.
    """
    if diversity(q).item() >= target:
        return q
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = diversity((1 - middle) * q + middle * uniform).item() >= target
        # Bisection from the side that satisfies the constraint: ``high`` always does.
        low, high = (low, middle) if enough else (middle, high)
    return (1 - high) * q + high * uniform
