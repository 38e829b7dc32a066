"""Arena: all systems against one another before a judge,
and their ranking with bootstrap intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from harness.contracts import Values, VerbResult
from harness.errors import HarnessError
from harness.stats import bootstrap
from harness.stats.bradley_terry import ranks, strengths
from harness_metrics.judges import prompts
from harness_metrics.judges.answers import count_answers, describe_counts
from harness_metrics.judges.duels import CRITERION, Duel, Outcome, fight
from harness_metrics.judges.judge import Judge


@dataclass(frozen=True)
class Standing:
    """Place of one system."""

    system: str
    rank: int
    ranks: tuple[int, int]
    """95 % interval of the rank; all ranks where ``interval`` is None."""
    strength: float
    """Bradley-Terry log-strength; the mean over systems is 0."""
    interval: tuple[float, float] | None
    """95 % percentile interval of the strength under a bootstrap over examples; None
    where the judge decides no duel in both orders, so that all resamples are equal.
    """
    points: float
    """Mean points over the system's duels, ties one half."""


@dataclass(frozen=True)
class Ranking(VerbResult):
    """Result of an arena."""

    ROWS = "standings"

    standings: tuple[Standing, ...]
    """Systems, the strongest first."""
    duels: int
    """Duels with a valid answer in both orders."""
    unanswered: int
    """Duels without one; they do not count."""
    first_place: float
    """Share of decisions for the caption in the first place;
    0.5 without bias of position.
    """
    contradictions: float
    """Share of duels whose two orders contradict each other; they count as ties."""
    wins: np.ndarray
    """Points of row over column, shape (S, S), in the order of ``standings``."""
    counts: Mapping[str, Any]
    """Answers by status, requests, tokens and cost."""

    def to_dict(self) -> Values:
        """Return the fields."""
        return {**asdict(self), "wins": self.wins.tolist()}

    def blocks(self) -> Iterator[str]:
        """Yield the table, a line per system, and the numbers of answers."""
        width = max(6, *(len(standing.system) for standing in self.standings))
        names = f"{'rank':<10}{'system':<{width}}"
        yield f"{names}{'strength':>10}{'95 % interval':>20}{'points':>9}"
        for row in self.standings:
            rank = f"{row.rank} ({row.ranks[0]}-{row.ranks[1]})"
            ends = "none"
            if row.interval:
                ends = f"{row.interval[0]:.3f} to {row.interval[1]:.3f}"
            names = f"{rank:<10}{row.system:<{width}}"
            yield f"{names}{row.strength:>10.3f}{ends:>20}{row.points:>9.3f}"

        counts = self.counts
        answers = ", ".join(
            f"{count} {status}" for status, count in counts["answers"].items() if count
        )
        cost = f", cost {counts['cost']:.4f}" if "cost" in counts else ""
        tokens = counts["tokens"]
        yield ""
        yield (
            f"{self.duels} duels in both orders, {self.unanswered} without an "
            f"answer; {self.contradictions:.1%} contradict "
            f"themselves; {self.first_place:.1%} of decisions for the caption in the "
            "first place"
        )
        yield (
            f"answers: {answers}; {counts['requests']} requests, "
            f"{tokens['input']} + {tokens['output']} tokens{cost}"
        )


def arena(
    judge: Judge,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]] | None = None,
    *,
    sources: Sequence[str | None] | None = None,
    media: Sequence[str | None] | None = None,
    criterion: str = CRITERION,
    samples: int = 1000,
    seed: int = 0,
    prior: float = 1.0,
) -> Ranking:
    """Compare all pairs of systems on all examples, in both orders,
    and rank the systems.

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
    media : sequence of str or None, optional
        Images, one per example, for a judge that sees them.
    criterion : str
        Meaning of *better* in the prompt.
    samples : int, default 1000
        Bootstrap resamples of the examples.
    seed : int, default 0
        Seed of the bootstrap.
    prior : float, default 1
        See :func:`~harness.stats.bradley_terry.strengths`.

    Raises
    ------
    HarnessError
        For fewer than two systems, lists of unequal length, and when no duel has a
        valid answer.
    """
    names = list(systems)
    size = _size(systems, references, sources)
    pairs = list(combinations(range(len(names)), 2))

    duels = _pair_captions(systems, size, references, sources, media)
    outcomes = fight(judge, duels, criterion, judge.default_prompt(prompts.ARENA))
    defined = [outcome for outcome in outcomes if not np.isnan(outcome.points)]
    if not defined:
        raise HarnessError(
            f"arena: none of {len(duels)} duels has a valid answer in both orders"
        )

    wins = _wins(outcomes, pairs, size, len(names))
    # equal captions tie without a request
    verdicts = [
        verdict
        for outcome in outcomes
        for verdict in (outcome.forward, outcome.backward)
        if verdict.requests
    ]
    standings, order = _standings(names, wins, samples, seed, prior)
    return Ranking(
        standings,
        len(defined),
        len(outcomes) - len(defined),
        float(np.mean([outcome.for_first_place for outcome in defined])),
        float(np.mean([outcome.contradicts for outcome in defined])),
        wins.sum(axis=0)[np.ix_(order, order)],
        describe_counts(count_answers(verdicts)[None], judge.prices),
    )


def _pair_captions(
    systems: Mapping[str, Sequence[str]],
    size: int,
    references: Sequence[Sequence[str]] | None,
    sources: Sequence[str | None] | None,
    media: Sequence[str | None] | None,
) -> list[Duel]:
    """Return the duels of all pairs of systems, example by example."""
    duels: list[Duel] = []
    for k in range(size):
        texts = tuple(references[k]) if references else ()
        source = sources[k] if sources else None
        image = media[k] if media else None
        for first, second in combinations(systems.values(), 2):
            duels.append(Duel(first[k], second[k], texts, source, image))
    return duels


def _size(systems: Mapping[str, Sequence[str]], *others: Sequence[Any] | None) -> int:
    if len(systems) < 2:
        raise HarnessError(f"arena: found {len(systems)} systems; expected at least 2")

    sizes = {len(captions) for captions in systems.values()}
    sizes |= {len(texts) for texts in others if texts is not None}
    if len(sizes) > 1 or not next(iter(sizes)):
        lengths = ", ".join(
            f"{name}: {len(captions)}" for name, captions in systems.items()
        )
        raise HarnessError(
            "arena: expected as many captions of every system as examples, "
            f"at least 1; found {lengths}"
        )
    return next(iter(sizes))


def _wins(
    outcomes: Sequence[Outcome], pairs: Sequence[tuple[int, int]], size: int, n: int
) -> np.ndarray:
    """Return the points of row over column for each example, shape (B, S, S)."""
    wins = np.zeros((size, n, n))
    points = iter(outcomes)
    for k in range(size):
        for i, j in pairs:
            value = next(points).points
            if not np.isnan(value):
                wins[k, i, j] = value
                wins[k, j, i] = 1.0 - value
    return wins


def _standings(
    names: Sequence[str], wins: np.ndarray, samples: int, seed: int, prior: float
) -> tuple[tuple[Standing, ...], list[int]]:
    """Return the standings, the strongest first,
    and the positions of their systems in ``names``.
    """
    size = len(wins)
    n = len(names)
    flat = wins.reshape(size, n * n)
    values = strengths(wins.sum(axis=0), prior)

    # Examples are resampled, not duels: the duels of one image are not independent.
    draws = [
        strengths((w @ flat).reshape(-1, n, n), prior)
        for w in bootstrap.weights(size, samples, seed)
    ]
    resampled = np.concatenate(draws) if draws else values[None]
    system_ranks = ranks(values)
    resampled_places = ranks(resampled)

    duels = (wins + wins.transpose(0, 2, 1)).sum(axis=(0, 2))
    points = wins.sum(axis=(0, 2)) / np.where(duels > 0, duels, np.nan)

    order = sorted(range(n), key=lambda k: (-values[k], names[k]))
    # without a decision all resamples are equal, and an interval would have no width
    decisive = bool((wins != wins.transpose(0, 2, 1)).any())
    standings: list[Standing] = []
    for k in order:
        rank_ends = (1, n)
        ends = None
        if decisive:
            rank_ends = _whole(bootstrap.interval(resampled_places[:, k]))
            ends = bootstrap.interval(resampled[:, k])
        standing = Standing(
            names[k],
            int(system_ranks[k]),
            rank_ends,
            float(values[k]),
            ends,
            float(points[k]),
        )
        standings.append(standing)
    return tuple(standings), order


def _whole(ends: tuple[float, float]) -> tuple[int, int]:
    return int(np.floor(ends[0])), int(np.ceil(ends[1]))
