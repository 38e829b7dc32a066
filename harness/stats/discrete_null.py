"""Exact null distribution of a sum of scores of independent discrete p-values.

An exact permutation p-value of a design with M relabelings is k / M. Under the null
hypothesis and without ties, k is uniform on 1, ..., M. A combination sum_i f(k_i) over
L independent examples then has a known discrete law: the convolution of L laws on at
most M points. :class:`SumNull` computes it by a fast Fourier transform, in the tails
after exponential tilting, so that probabilities far below the resolution of float64
keep their digits. Rounding to the grid breaks ties of sums (1 * 4 = 2 * 2): where the
sums have few values, :meth:`SumNull.log_p` enumerates them instead.

With ties, a p-value counts the tied relabelings as extreme, k is stochastically larger
than uniform, and the tail probability of a sum of decreasing scores is an upper bound:
the combined test stays valid and becomes conservative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from caption_kernels import exp, log, sum_law

GRID = 1 << 16
"""Number of points of the grid on which the sum is computed."""
_DIRECT = 1e-3
"""Tail probability below which the tilted law is used;
the untilted one has an absolute error below about 1e-12.
"""
ENUMERATED = 1 << 16
"""Maximum number of sums that are enumerated at once, before equal ones are joined."""
_TIE = 1e-9
"""Difference up to which sums of logarithms are equal."""
_SMALLEST_LOG = -600.0
"""Logarithm of the smallest probability of an enumerated sum."""
_HOEFFDING = 4.5
"""Half width of the grid in units of sqrt(sum of squared ranges): the mass beyond is at
most 2 exp(-2 * 4.5**2) = 5e-18.
"""


class SumNull:
    """Law of S = sum over examples of a score of a uniform rank.

    Scores are rounded to multiples of a step that depends on the designs alone; S, in
    units of the step, is an integer. The rounded statistic is the one that is tested,
    so that its law is exact.

    Parameters
    ----------
    tables : sequence of arrays
        Scores f(1), ..., f(M) of each design, float64, shape (M,); decreasing, so that
        small ranks (small p-values) score high.
    counts : sequence of int
        Number of examples of each design.
    """

    def __init__(self, tables: Sequence[np.ndarray], counts: Sequence[int]) -> None:
        self.tables = tuple(tables)
        self.counts = tuple(counts)
        ranges = np.array([float(table[0] - table[-1]) for table in tables])
        number = np.array(self.counts)
        whole = float((number * ranges).sum())
        window = 2 * _HOEFFDING * math.sqrt(float((number * ranges**2).sum()))
        # The whole range where the grid holds it, else the window that holds all but
        # 5e-18 of the mass.
        self.is_whole = whole <= window and number.sum() < GRID // 8
        """True when the grid holds every value of S."""
        points = GRID - 2 - int(number.sum()) if self.is_whole else GRID
        self.step = (whole if self.is_whole else window) / points or 1.0
        self.scores = [
            np.rint((table - table[-1]) / self.step).astype(np.int64)
            for table in tables
        ]
        """Integer scores of each design, shape (M,); 0 for the largest rank."""

        laws = [np.unique(scores, return_counts=True) for scores in self.scores]
        self._laws = [(values, log(ties / ties.sum())) for values, ties in laws]
        self._largest = sum(
            int(values[-1]) * count
            for (values, _), count in zip(self._laws, self.counts)
        )

    def log_p(self, ranks: Sequence[np.ndarray]) -> float:
        """Return log P(S >= the sum of the scores of ranks 1, ..., M), one array of
        ranks, shape (L,), per design; ties count as reached.

        Where S has too many values to enumerate, S is the rounded sum, in which ties of
        sums may be broken.
        """
        if self._enumerated is None:
            scores = [scores[k - 1].sum() for scores, k in zip(self.scores, ranks)]
            return self.log_tail(int(sum(scores)))
        sums, tails = self._enumerated
        total = float(sum(table[k - 1].sum() for table, k in zip(self.tables, ranks)))
        reached = np.searchsorted(-sums, _TIE - total, side="right") - 1
        return min(0.0, log(tails[reached]))

    @cached_property
    def _enumerated(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The values of S in descending order and P(S >= each), both of shape (K,);
        None where they are too many.
        """
        # The probability of a single outcome must not underflow.
        outcomes = sum(
            count * log(len(table)) for table, count in zip(self.tables, self.counts)
        )
        if outcomes > -_SMALLEST_LOG:
            return None

        sums = np.zeros(1)
        masses = np.ones(1)
        for table, count in zip(self.tables, self.counts):
            for _ in range(count):
                if len(sums) * len(table) > ENUMERATED:
                    return None
                descending = -np.add.outer(sums, table).ravel()
                order = np.argsort(descending, kind="stable")
                # Sums that are equal up to rounding are joined.
                steps = np.diff(descending[order], prepend=-math.inf)
                starts = np.flatnonzero(steps > _TIE)
                sums = -descending[order][starts]
                spread = np.repeat(masses / len(table), len(table))
                masses = np.add.reduceat(spread[order], starts)
        return sums, np.cumsum(masses)

    def log_tail(self, total: int) -> float:
        """Return log P(S >= total); 0 for totals that every outcome reaches,
        -inf for those that none reaches.
        """
        if total > self._largest:
            return -math.inf
        start, tail = self._tail_probabilities
        if total <= start:
            return 0.0
        if total - start < len(tail) and tail[total - start] > _DIRECT:
            return min(0.0, log(tail[total - start]))
        return self._tilted_log_tail(total)

    @cached_property
    def _tail_probabilities(self) -> tuple[int, np.ndarray]:
        """First integer of the grid, and P(S >= it), P(S >= it + 1),
        ... of shape (GRID,).
        """
        log_mass, mean = self._tilt(0.0)
        start = 0 if self.is_whole else max(0, round(mean) - GRID // 2)
        masses = np.roll(self._masses(0.0, log_mass), -(start % GRID))
        # Not clipped: rounding errors of either sign cancel.
        tail = np.cumsum(masses[::-1])
        return start, np.maximum.accumulate(tail)[::-1]

    def _tilt(self, theta: float) -> tuple[list[float], float]:
        """Return the log normaliser of each design's law tilted by exp(theta * score),
        and the mean of the tilted sum.
        """
        normalisers: list[float] = []
        mean = 0.0
        for (values, log_p), count in zip(self._laws, self.counts):
            exponents = theta * values + log_p
            top = float(exponents.max())
            weights = exp(exponents - top)
            normalisers.append(top + log(weights.sum()))
            mean += count * float((values * weights).sum()) / float(weights.sum())
        return normalisers, mean

    def _masses(self, theta: float, normalisers: Sequence[float]) -> np.ndarray:
        """Return the tilted law of S modulo GRID, shape (GRID,)."""
        laws: list[np.ndarray] = []
        for (values, log_p), normaliser in zip(self._laws, normalisers):
            masses = exp(theta * values + log_p - normaliser)
            laws.append(np.bincount(values % GRID, masses, minlength=GRID))
        return sum_law(
            np.array(laws, dtype=np.float64), np.array(self.counts, dtype=np.int64)
        )

    def _tilted_log_tail(self, total: int) -> float:
        """Return log P(S >= total) from the law whose mean is near ``total``."""
        low = 0.0
        high = 60.0
        for _ in range(40):
            middle = (low + high) / 2
            if self._tilt(middle)[1] < total:
                low = middle
            else:
                high = middle

        normalisers, _ = self._tilt(high)
        masses = self._masses(high, normalisers)

        beyond = self._largest - total + 1
        offsets = np.arange(beyond if self.is_whole else min(beyond, GRID // 2))
        inside = float((exp(-high * offsets) * masses[(total + offsets) % GRID]).sum())
        cumulant = sum(
            count * normaliser for count, normaliser in zip(self.counts, normalisers)
        )
        return min(0.0, cumulant - high * total + log(inside))
