"""Exact tests of how many right answers a new version loses: pairs of answers that are
right or wrong, without a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

import numpy as np

from harness.decisions.statistics.bounded_mean import clopper_pearson
from harness.decisions.statistics.sample_size import (
    LEVEL,
    POWER_QUANTILE,
    find_smallest_count,
)
from harness.stats.quantiles import normal_quantile

OUTSIDE = 1e-5
"""Probability that the interval of the nuisance share, over which the p-value is
maximised, misses it.
"""
CELLS = 128
"""Number of parts of this interval."""
WINDOW = 5.0
"""Standard deviations of a count around its mean that are summed; what lies outside is
added to the p-value.
"""
NEGLIGIBLE = 1e-9
"""Probability of a count that is not summed either."""
PRECISION = 1e-3
"""Precision of a bound, in standard errors."""
FARTHEST = 8.0
"""Distance of the bounds of most counts from the loss that is seen, in standard errors:
where their search begins.
"""
MOST_EXACT = 20_000
"""Number of pairs up to which the number that decides is found by the exact test;
beyond, the normal test needs nearly as many.
"""
CELLS_COST = 1.05
"""Pairs of the exact test for one of the normal test, where many decide."""


@dataclass(frozen=True)
class PairedShares:
    """The share of right answers that a new version loses: the share of broken answers
    minus that of improved ones.

    Proof that a test holds its level. Of n independent pairs, B are broken and I
    improved; (B, I) is multinomial with the shares b and i. The pairs of counts are
    ordered by an upper bound u(B, I) of b - i, the normal one with one pseudo-count in
    the variance, which grows with B and falls with I. At a loss of b - i = m the
    probability of a pair of counts that is ordered at most as high as the one seen
    depends on i; its maximum over all i is a p-value, and so is the maximum over a
    confidence interval of i, plus the probability that the interval misses i (Berger &
    Boos). Between two neighbouring values of i the maximum is bounded: turning an
    unchanged answer into a broken one, or taking back an improvement, never moves a
    pair of counts downwards, so that the probability is largest at the smallest share
    of broken answers and the largest of improved ones. All of it falls with m: the
    bound is the loss at which the p-value is the level, and test and bound agree.

    Without a change the bound is that of Clopper and Pearson for no broken answer among
    n: (1 - m)^n is the level.

    References
    ----------
    Lloyd & Moldovan (2007), *Exact one-sided confidence limits for the difference
    between two correlated proportions*, Statistics in Medicine 26(18), for the order by
    an approximate bound; Berger & Boos (1994), *P values maximized over a confidence
    set for the nuisance parameter*, JASA 89(427).
    """

    broken: int
    """Pairs whose answer was right and is wrong."""
    improved: int
    """Pairs whose answer was wrong and is right."""
    n: int
    level: float = LEVEL
    """Level of a one-sided test; a bound has the coverage 1 minus the level."""

    @property
    def value(self) -> float:
        """The share of right answers that is lost."""
        return (self.broken - self.improved) / self.n

    def p_below(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the loss is at least ``limit``:
        small where it lies below.
        """
        return self._lost.p_value(limit)

    def p_above(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the loss is at most ``limit``:
        small where it lies above.
        """
        return self._gained.p_value(-limit)

    def upper(self) -> float:
        """Return the one-sided upper bound of the loss."""
        return self._lost.bound(self.level)

    def lower(self) -> float:
        """Return the one-sided lower bound of the loss."""
        return -self._gained.bound(self.level)

    def n_to_decide(self, limit: float, level_above: float | None = None) -> float:
        """Return the number of pairs that tells the loss from ``limit`` with power .8,
        if the shares are those seen; inf where equal.

        ``level_above``: level of the test that the loss lies above the limit; default:
        :attr:`level`.
        """
        if self.value == limit:
            return inf
        is_below = self.value < limit
        level = self.level if is_below else (level_above or self.level)
        shares = np.array([self.broken, self.improved]) / self.n
        spread = sqrt(max(float(shares.sum()) - self.value**2, 0.0))

        quantiles = POWER_QUANTILE - normal_quantile(level)
        normal = (quantiles * spread / (limit - self.value)) ** 2
        if normal > MOST_EXACT:
            return CELLS_COST * normal

        def decides(n: float) -> bool:
            # The counts of an unlucky sample: the loss is nearer to the limit by .84
            # standard errors.
            unlucky = POWER_QUANTILE * spread * sqrt(n) * (1 if is_below else -1)
            broken = max(0, round(n * shares[0] + unlucky / 2))
            improved = max(0, round(n * shares[1] - unlucky / 2))
            future = PairedShares(broken, improved, max(int(n), broken + improved))
            p_value = future.p_below(limit) if is_below else future.p_above(limit)
            return p_value <= level

        return find_smallest_count(decides)

    def n_without_change(self, limit: float) -> float:
        """Return the smallest number of pairs at which the loss is told to lie below
        ``limit`` if no answer changes.
        """
        if limit <= 0:
            return inf
        return find_smallest_count(
            lambda n: PairedShares(0, 0, int(n)).p_below(limit) <= self.level
        )

    @cached_property
    def _lost(self) -> _Tail:
        return _Tail(self.broken, self.improved, self.n)

    @cached_property
    def _gained(self) -> _Tail:
        return _Tail(self.improved, self.broken, self.n)


class _Tail:
    """Probability of counts that are ordered at most as high as those seen."""

    def __init__(self, broken: int, improved: int, n: int) -> None:
        self.n = n
        self.value = (broken - improved) / n
        self.error = sqrt(broken + improved + 1) / n
        ends = clopper_pearson(improved, n, level=OUTSIDE)
        # The root of a share has nearly the same error everywhere, so that cells of
        # equal length in it are equally fine.
        self.edges = np.linspace(sqrt(ends[0]), sqrt(ends[1]), CELLS + 1) ** 2
        """Ends of the parts of the interval of the share of improved answers,
        shape (CELLS + 1,).
        """
        last = min(n, int(n * ends[1] + WINDOW * sqrt(n * ends[1]) + WINDOW**2))
        first = max(0, int(n * ends[0] - WINDOW * sqrt(n * ends[0])))
        self.improved = np.arange(first, last + 1)
        """Numbers of improved answers that are summed, shape (C,)."""
        self.most_broken = self._order(broken, improved, np.arange(last + 1))[first:]

    def _order(self, broken: int, improved: int, counts: np.ndarray) -> np.ndarray:
        """Return, for each number of improved answers (C,), the most broken ones that
        are ordered no higher than the pair seen.
        """
        quantile = normal_quantile(1 - LEVEL)
        difference = broken - improved
        variance = broken + improved + 1 - difference**2 / self.n
        bound = difference + quantile * sqrt(variance)

        # Solve d + z sqrt(d + 2 i + 1 - d² / n) = bound for the difference d of the
        # counts.
        square = 1 + quantile**2 / self.n
        linear = bound + quantile**2 / 2
        under_root = linear**2 - square * (bound**2 - quantile**2 * (2 * counts + 1))
        solution = (linear - np.sqrt(np.maximum(under_root, 0.0))) / square
        most = np.where(under_root >= 0, np.floor(counts + solution + 1e-9), -1)
        return np.maximum.accumulate(np.maximum(most, -1))

    def p_value(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the loss is at least ``limit``."""
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        if not -1 < limit <= 1:
            return float(limit <= -1)

        # Of each cell the smallest share of broken answers at this loss, and the
        # largest of improved ones.
        broken = np.maximum(self.edges[:-1] + limit, 0.0)
        improved = np.minimum(self.edges[1:], 1 - broken)
        possible = self.edges[:-1] <= 1 - broken
        if not possible.any():
            return OUTSIDE
        broken = broken[possible, None]
        improved = improved[possible, None]

        # Probability of each number of improved answers: binomial.
        counts = self.improved
        rest = self.n - counts
        ways = (
            special.gammaln(self.n + 1)
            - special.gammaln(counts + 1)
            - special.gammaln(rest + 1)
        )
        wrong = special.xlogy(rest, 1 - improved)
        chances = np.exp(ways + special.xlogy(counts, improved) + wrong)

        # Given it, that of few enough broken ones among the other answers.
        seen = chances > NEGLIGIBLE
        of_rest = np.minimum(broken / np.maximum(1 - improved, 1e-300), 1.0)
        most, trials, share = (
            np.broadcast_to(values, seen.shape)[seen]
            for values in (np.minimum(self.most_broken, rest), rest, of_rest)
        )
        few = np.where(most < 0, 0.0, special.bdtr(np.maximum(most, 0), trials, share))
        below = np.zeros(seen.shape)
        below[seen] = chances[seen] * few

        # What is not summed counts as ordered no higher.
        outside = 1 - np.where(seen, chances, 0.0).sum(axis=1)
        largest = float((below.sum(axis=1) + np.maximum(outside, 0.0)).max())
        return min(1.0, largest + OUTSIDE)

    def bound(self, level: float) -> float:
        """Return the smallest loss that is rejected."""

        def excess(loss: float) -> float:
            """Return the distance of the p-value from the level on the scale of normal
            quantiles, where it is nearly linear.
            """
            p_value = min(max(self.p_value(loss), 1e-12), 1 - 1e-12)
            return normal_quantile(p_value) - normal_quantile(level)

        precision = PRECISION * self.error
        inside = self.value
        outside = min(1.0, self.value + FARTHEST * self.error)
        above = excess(inside)
        below = excess(outside)
        # The bound of few counts may lie farther away.
        if below > 0:
            inside = outside
            above = below
            outside = 1.0
            below = excess(1.0)

        side = 1
        while outside - inside > precision:
            crossing = inside + (outside - inside) * above / (above - below)
            # A step beyond the crossing moves the other end too; an end that stays
            # counts half, so that it moves at last (Illinois).
            guess = min(
                max(crossing + side * precision / 2, inside + precision / 4),
                outside - precision / 4,
            )
            height = excess(guess)
            if height > 0:
                below = below / 2 if side > 0 else below
                inside = guess
                above = height
                side = 1
            else:
                above = above / 2 if side < 0 else above
                outside = guess
                below = height
                side = -1
        return outside
