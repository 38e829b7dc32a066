"""Arena: all systems against one another before a judge, and their ranking with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

import numpy as np

from harness.errors import HarnessError
from harness.stats import bootstrap
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import count_answers, describe_counts
from harness_metrics.judges.duels import CRITERION, Duel, Outcome, fight
from harness_metrics.judges.judge import Judge

# --------------------------------------------------------------------------- strengths
# Bradley-Terry strengths of competitors from wins of pairs, for many resamples at once.


_STEPS = 500
_TOLERANCE = 1e-10
_LONGEST = 2.0
"""Maximum change of a strength in one step of Newton's method."""


def strengths(wins: np.ndarray, prior: float = 1.0) -> np.ndarray:
    """Return the log-strengths of S competitors, with mean 0.

    The probability that i beats j is 1 / (1 + exp(s_j - s_i)). The maximum of the likelihood is found by Newton's method.

    Parameters
    ----------
    wins : array
        ``wins[..., i, j]``: number of wins of i over j, not negative, a tie counting one half for both; shape (..., S, S). The
        diagonal is ignored.
    prior : float, default 1
        Number of ties that are added to each pair, which keeps the strength of a competitor that wins or loses always finite.

    Returns
    -------
    array
        Strengths, shape (..., S).

    Raises
    ------
    ValueError
        If no finite strengths maximise the likelihood: some group of competitors has no win, or no loss, against the others
        (only with ``prior`` 0).

    References
    ----------
    Bradley & Terry 1952, *Rank Analysis of Incomplete Block Designs: I*; Hunter 2004, *MM Algorithms for Generalized
    Bradley-Terry Models*, section 2.

    Examples
    --------
    >>> strengths(np.array([[0, 3], [1, 0]]), prior=0.0).round(4)  # log(3) / 2
    array([ 0.5493, -0.5493])
    """
    size: int = wins.shape[-1]
    flat = np.asarray(wins, dtype=np.float64).reshape(-1, size, size)
    # A tie is half a win for both, so that ``prior`` ties add prior / 2 to each side of every pair.
    flat = (flat + prior / 2.0) * (1.0 - np.eye(size))
    _check_finite_strengths(flat)
    games = flat + flat.transpose(0, 2, 1)
    total = flat.sum(axis=2)
    values = np.zeros(total.shape)
    for _ in range(_STEPS):
        expected = games / (1.0 + np.exp(values[:, None, :] - values[:, :, None]))
        slope = total - expected.sum(axis=2)
        # Second derivative: each pair of competitors contributes games * p * (1 - p), with expected = games * p.
        curve = expected * (1.0 - np.divide(expected, games, out=np.zeros_like(games), where=games > 0))
        # The likelihood does not change when a constant is added to all strengths, which makes the Hessian singular
        # along (1, ..., 1). Adding 1 / S in that direction makes it regular without moving the step, whose slopes sum
        # to 0.
        hessian = np.eye(size) * curve.sum(axis=2)[:, :, None] - curve + 1.0 / size  # + 1/S: the mean stays 0
        change = cast("np.ndarray", np.linalg.solve(hessian, slope[:, :, None]))[:, :, 0]
        # Far from the maximum the likelihood is nearly flat, and a full step of Newton's method would overshoot.
        change *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(change).max(axis=1, keepdims=True), 1e-300))
        values += change
        if np.abs(change).max(initial=0.0) < _TOLERANCE:
            return (values - values.mean(axis=1, keepdims=True)).reshape(wins.shape[:-1])
    raise ValueError(f"the strengths do not converge in {_STEPS} steps")


def _check_finite_strengths(wins: np.ndarray) -> None:
    """Raise ``ValueError`` unless wins (W, S, S) lead from every competitor to every other (Ford 1957)."""
    reach = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    # Squaring doubles the length of the paths: log2(S) products reach every competitor that any path reaches.
    for _ in range(wins.shape[-1].bit_length()):
        reach = (reach.astype(np.float64) @ reach) > 0
    if not reach.all():
        raise ValueError("a group of competitors has no win, or no loss, against the others: no finite strengths (prior: 0)")


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of strengths (..., S): 1 for the highest; equal strengths share the smaller rank.

    >>> ranks(np.array([0.5, -1.0, 0.5]))
    array([1, 3, 1])
    """
    return 1 + (values[..., None, :] > values[..., :, None]).sum(axis=-1)


# --------------------------------------------------------------------------- arena


@dataclass(frozen=True)
class Standing:
    """Place of one system."""

    system: str
    rank: int
    ranks: tuple[int, int]
    """95 % interval of the rank."""
    strength: float
    """Bradley-Terry log-strength; the mean over systems is 0."""
    interval: tuple[float, float]
    """95 % percentile interval of the strength under a bootstrap over examples."""
    points: float
    """Mean points over the system's duels, ties one half."""


@dataclass(frozen=True)
class Ranking:
    """Result of an arena."""

    standings: tuple[Standing, ...]
    """Systems, the strongest first."""
    duels: int
    """Duels with a valid answer in both orders."""
    unanswered: int
    """Duels without one; they do not count."""
    first_place: float
    """Share of decisions for the caption in the first place; 0.5 without bias of position."""
    contradictions: float
    """Share of duels whose two orders contradict each other; they count as ties."""
    wins: np.ndarray
    """Points of row over column, shape (S, S), in the order of ``standings``."""
    counts: Mapping[str, object]
    """Answers by status, requests, tokens and cost."""


def arena(
    judge: Judge, systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]] | None = None, *,
    sources: Sequence[str | None] | None = None, criterion: str = CRITERION, samples: int = 1000, seed: int = 0, prior: float = 1.0,
) -> Ranking:  # fmt: skip
    """Compare all pairs of systems on all examples, in both orders, and rank the systems.

    Parameters
    ----------
    judge : Judge
        The judge.
    systems : mapping
        Name of each of S systems and its captions, one per example (B).
    references : sequence of sequences of str, optional
        Captions by people that the judge sees, one list per example.
    sources : sequence of str or None, optional
        Source texts that the judge sees, one per example.
    criterion : str
        Meaning of *better* in the prompt.
    samples : int, default 1000
        Bootstrap resamples of the examples.
    seed : int, default 0
        Seed of the bootstrap.
    prior : float, default 1
        See :func:`~harness_metrics.judges.tournament.strengths`.

    Raises
    ------
    HarnessError
        For fewer than two systems, lists of unequal length, and when no duel has a valid answer.
    """
    names, size = list(systems), _size(systems, references, sources)
    pairs = list(combinations(range(len(names)), 2))
    duels = [
        Duel(
            systems[names[i]][k], systems[names[j]][k], tuple(references[k]) if references else (),
            sources[k] if sources else None,
        )
        for k in range(size) for i, j in pairs
    ]  # fmt: skip
    outcomes = fight(judge, duels, criterion, prompts.ARENA)
    defined = [outcome for outcome in outcomes if not np.isnan(outcome.points)]
    if not defined:
        raise HarnessError(f"arena: none of {len(duels)} duels has a valid answer in both orders")
    wins = _wins(outcomes, pairs, size, len(names))
    verdicts = [v for outcome in outcomes for v in (outcome.forward, outcome.backward) if v.requests]
    standings, order = _standings(names, wins, samples, seed, prior)
    return Ranking(
        standings, len(defined), len(outcomes) - len(defined),
        float(np.mean([outcome.for_first_place for outcome in defined])),
        float(np.mean([outcome.contradicts for outcome in defined])),
        wins.sum(axis=0)[np.ix_(order, order)],
        describe_counts(count_answers(verdicts)[None], judge.prices),
    )  # fmt: skip


def _size(systems: Mapping[str, Sequence[str]], *others: Sequence[Any] | None) -> int:
    if len(systems) < 2:
        raise HarnessError(f"arena: found {len(systems)} systems; expected at least 2")
    sizes = {len(captions) for captions in systems.values()} | {
        len(captions_beside) for captions_beside in others if captions_beside is not None
    }
    if len(sizes) > 1 or not next(iter(sizes)):
        lengths = ", ".join(f"{name}: {len(captions)}" for name, captions in systems.items())
        raise HarnessError(f"arena: expected as many captions of every system as examples, at least 1; found {lengths}")
    return next(iter(sizes))


def _wins(outcomes: Sequence[Outcome], pairs: Sequence[tuple[int, int]], size: int, n: int) -> np.ndarray:
    """Return the points of row over column for each example, shape (B, S, S)."""
    wins = np.zeros((size, n, n))
    points = iter(outcomes)
    for k in range(size):
        for i, j in pairs:
            value = next(points).points
            if not np.isnan(value):
                wins[k, i, j], wins[k, j, i] = value, 1.0 - value
    return wins


def _standings(names: Sequence[str], wins: np.ndarray, samples: int, seed: int, prior: float) -> tuple[tuple[Standing, ...], list[int]]:
    """Return the standings, the strongest first, and the positions of their systems in ``names``."""
    size, n = len(wins), len(names)
    flat = wins.reshape(size, n * n)
    values = strengths(wins.sum(axis=0), prior)
    # Examples are resampled, not duels: the duels of one image are not independent.
    draws = [strengths((w @ flat).reshape(-1, n, n), prior) for w in bootstrap.weights(size, samples, seed)]
    resampled = np.concatenate(draws) if draws else values[None]
    system_ranks, resampled_places = ranks(values), ranks(resampled)
    duels = (wins + wins.transpose(0, 2, 1)).sum(axis=(0, 2))
    points = wins.sum(axis=(0, 2)) / np.where(duels > 0, duels, np.nan)
    order = sorted(range(n), key=lambda k: (-values[k], names[k]))
    return tuple(
        Standing(
            names[k], int(system_ranks[k]), _whole(bootstrap.interval(resampled_places[:, k])), float(values[k]),
            bootstrap.interval(resampled[:, k]), float(points[k]),
        )
        for k in order
    ), order  # fmt: skip


def _whole(ends: tuple[float, float]) -> tuple[int, int]:
    return int(np.floor(ends[0])), int(np.ceil(ends[1]))
