"""Rejection rules of a run, and the probability that a run of a given size is rejected.

A rule gives every example a score; a run is rejected when the sum of its scores reaches
a critical value. With ``fisher-discrete`` the score is -log p and the critical value
comes from the exact null distribution of :func:`harness.stats.combine.calibrated_p`;
with ``harmonic-mean`` (Chan et al. 2022) it is 1 / p, and the harmonic mean itself is
compared with the level.

The sum over N examples that are drawn from a pilot is approximated by the shifted gamma
distribution with the same mean, variance and skewness (Pearson type III). It is exact
to the order of the first Edgeworth term and cannot be negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from harness.stats.combine import (
    MAX_RANKS,
    SMALLEST,
    fisher_null,
    harmonic_mean_p,
    log_calibrated_p,
)
from harness.stats.discrete_null import SumNull

RuleName = Literal["fisher-discrete", "harmonic-mean"]
_FLAT = 1e-3
"""Skewness below which the gamma distribution is replaced by the normal one."""


@dataclass(frozen=True)
class Composition:
    """Shares of the designs among the examples of a run."""

    relabelings: tuple[int, ...]
    """Number of relabelings of each design, increasing."""
    shares: tuple[float, ...]
    """Shares of the examples, summing to 1."""

    @classmethod
    def of(cls, floors: np.ndarray) -> Composition:
        """Return the composition of examples whose smallest p-values are ``floors``
        (L,).
        """
        designs, counts = np.unique(ranks_of(floors), return_counts=True)
        return cls(tuple(designs.tolist()), tuple((counts / counts.sum()).tolist()))

    def counts(self, examples: int) -> tuple[int, ...]:
        """Return the numbers of examples of each design in a run,
        which sum to ``examples``.

        >>> Composition((6, 20), (0.25, 0.75)).counts(10)
        (2, 8)
        """
        edges = np.rint(np.cumsum(self.shares) * examples).astype(int)
        return tuple(np.diff(edges, prepend=0).tolist())


def ranks_of(floors: np.ndarray) -> np.ndarray:
    """Return the numbers of relabelings of designs with the given smallest p-values,
    int64, the shape of ``floors``.
    """
    return np.minimum(np.rint(1.0 / np.asarray(floors)), MAX_RANKS).astype(np.int64)


class FisherDiscrete:
    """Rule of :func:`harness.stats.combine.calibrated_p`; scores are -log p minus their
    mean under the null hypothesis.
    """

    def combine(self, p: np.ndarray, floors: np.ndarray) -> float:
        """Return the calibrated combined p-value of p-values (L,) with smallest values
        ``floors`` (L,).
        """
        return max(math.exp(log_calibrated_p(p, floors)), SMALLEST)

    def scores(self, p: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Return -log p minus its mean for p uniform on 1 / M, ..., 1; shapes
        broadcast, NaN stays NaN.
        """
        from scipy.special import gammaln  # pyright: ignore[reportMissingTypeStubs]

        ranks = ranks_of(floors)
        means = np.log(ranks) - np.asarray(gammaln(ranks + 1.0)) / ranks
        return -np.log(p) - means

    def critical(self, composition: Composition, examples: int, level: float) -> float:
        """Return the smallest sum of scores with a null tail probability of at most
        ``level``; infinity when there is none.
        """
        return _fisher_critical(composition, examples, level)

    def p_of_sum(self, composition: Composition, examples: int, total: float) -> float:
        """Return the null tail probability of a sum, at least
        :data:`harness.stats.combine.SMALLEST`.
        """
        null, mean = _null(composition, examples)
        steps = round(total / null.step + mean)
        # Rounded up, a sum may lie beyond the largest one.
        steps = min(steps, _largest_sum(composition, examples))
        return max(math.exp(null.log_tail(steps)), SMALLEST)


class HarmonicMean:
    """Rule of the harmonic mean of p-values, as in Chan et al. (2022);
    it is no calibrated test.
    """

    def combine(self, p: np.ndarray, floors: np.ndarray) -> float:
        """Return the harmonic mean."""
        return harmonic_mean_p(p)

    def scores(self, p: np.ndarray, floors: np.ndarray) -> np.ndarray:
        """Return 1 / p."""
        return 1.0 / p

    def critical(self, composition: Composition, examples: int, level: float) -> float:
        """Return the sum at which the harmonic mean is the level."""
        return examples / level

    def p_of_sum(self, composition: Composition, examples: int, total: float) -> float:
        """Return the harmonic mean of p-values whose reciprocals sum to ``total``,
        at most 1.
        """
        return min(1.0, examples / max(total, examples))


Rule = FisherDiscrete | HarmonicMean
"""Combination of the p-values of a run as a sum of scores."""
RULES: dict[str, Rule] = {
    "fisher-discrete": FisherDiscrete(),
    "harmonic-mean": HarmonicMean(),
}


def _null(composition: Composition, examples: int) -> tuple[SumNull, float]:
    """Return the null distribution of Fisher's statistic of a run,
    and its mean in steps of the grid.
    """
    designs = zip(composition.relabelings, composition.counts(examples))
    present = [(relabelings, count) for relabelings, count in designs if count]
    counts = tuple(count for _, count in present)
    null = fisher_null(tuple(relabelings for relabelings, _ in present), counts)
    mean = sum(count * scores.mean() for scores, count in zip(null.scores, counts))
    return null, float(mean)


def _largest_sum(composition: Composition, examples: int) -> int:
    """Return the largest sum of grid scores,
    that of a run whose p-values are all as small as possible.
    """
    null, _ = _null(composition, examples)
    return sum(
        count * int(scores[0]) for scores, count in zip(null.scores, null.counts)
    )


@lru_cache(maxsize=4096)
def _fisher_critical(composition: Composition, examples: int, level: float) -> float:
    """Return the smallest centred sum with a null tail probability of at most the
    level, which is met within 0.1 %.

    The root of -log P(S >= total) is almost linear in the total, and is solved by false
    position (Illinois rule).
    """
    null, mean = _null(composition, examples)
    high = _largest_sum(composition, examples)
    goal = math.sqrt(-math.log(level))

    def distance(total: int) -> float:
        return math.sqrt(max(0.0, -null.log_tail(total))) - goal

    above = distance(high)
    if above < 0:
        return math.inf
    low = int(mean)
    below = distance(int(mean))
    if below >= 0:
        low = -1
        below = -goal

    # An end that stays twice in a row counts half, or it would stay for long.
    side = 0
    while high - low > 1:
        total = (low + high) // 2
        if above > below:
            total = low + round((high - low) * -below / (above - below))
        total = min(max(total, low + 1), high - 1)
        value = distance(total)
        if value >= 0:
            high = total
            above = value
            if value < 5e-4 / max(goal, 1e-3):
                break
            below = below / 2 if side > 0 else below
            side = 1
        else:
            low = total
            below = value
            above = above / 2 if side < 0 else above
            side = -1
    return (high - mean) * null.step


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """Moments of the score of one example for S resamples of a pilot,
    each of shape (S,).
    """

    mean: np.ndarray
    deviation: np.ndarray
    skewness: np.ndarray

    @classmethod
    def of_sums(cls, sums: np.ndarray) -> ScoreMoments:
        """Return the moments from the sums of 1, x, x**2 and x**3 over the draws,
        shape (S, 4).
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            mean, second, third = (sums[:, 1:4] / sums[:, :1]).T
            variance = np.maximum(second - mean**2, 0.0)
            # Rounding of equal scores is no variance.
            variance[variance < 1e-12 * np.maximum(1.0, second)] = 0.0
            varies = variance > 0
            central = third - 3 * mean * second + 2 * mean**3
            skewness = central / np.where(varies, variance, 1.0) ** 1.5
            skewness = np.where(varies, skewness, 0.0)
        return cls(mean, np.sqrt(variance), skewness)

    def tail(self, total: float, examples: int) -> np.ndarray:
        """Return the probabilities (S,) that the sum over ``examples`` draws is at
        least ``total``.
        """
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        distance = total - examples * self.mean
        spread = self.deviation * math.sqrt(examples)
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.where(distance <= 0, -np.inf, np.inf)
            x = np.where(spread > 0, distance / spread, certain)
        x = np.where(np.isnan(distance), np.nan, x)

        # A negative skewness mirrors the gamma distribution.
        skewness = self.skewness / math.sqrt(examples)
        shape = 4.0 / np.maximum(np.abs(skewness), _FLAT) ** 2
        point = np.maximum(shape + np.where(skewness < 0, -x, x) * np.sqrt(shape), 0.0)
        right = np.asarray(special.gammaincc(shape, point))
        left = np.asarray(special.gammainc(shape, point))
        normal = np.asarray(special.ndtr(-x))
        skewed = np.where(skewness > 0, right, left)
        return np.where(np.abs(skewness) < _FLAT, normal, skewed)

    def draw(self, examples: int, rng: np.random.Generator) -> np.ndarray:
        """Return one sum over ``examples`` draws for each resample, shape (S,)."""
        skewness = self.skewness / math.sqrt(examples)
        shape = 4.0 / np.maximum(np.abs(skewness), _FLAT) ** 2
        gamma = rng.standard_gamma(shape)
        normal = rng.normal(size=len(shape))
        skewed = np.sign(skewness) * (gamma - shape) / np.sqrt(shape)
        standard = np.where(np.abs(skewness) < _FLAT, normal, skewed)
        return examples * self.mean + self.deviation * math.sqrt(examples) * standard
