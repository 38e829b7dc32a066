"""Bounds of a change from the number of units that changed at all, where each can move
the number by a known amount at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from harness.decisions.statistics.bounded_mean import clopper_pearson
from harness.decisions.statistics.sample_size import LEVEL, find_smallest_count


@dataclass(frozen=True)
class ChangedShare:
    """A change of a number by a few of n units: by at most the share of units that
    change, times the reach of the number.

    The share has the exact bound of Clopper and Pearson, so that tests hold their level
    where no unit moves the number by more than its reach divided by n: a reach of the
    whole range is meant, of 1 for a number from 0 to 1.
    """

    value: float
    changed: int
    n: int
    reach: float

    def p_below(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the change is at least ``limit``:
        small where it lies below.
        """
        from scipy.special import bdtr  # pyright: ignore[reportMissingTypeStubs]

        share = limit / self.reach
        if not 0 < share <= 1:
            return float(share <= 0)
        return float(np.asarray(bdtr(float(self.changed), self.n, share)))

    def p_above(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the change is at most ``limit``:
        small where it lies above.
        """
        return self.p_below(-limit)

    def upper(self) -> float:
        """Return the one-sided upper bound of the change."""
        return self.reach * clopper_pearson(self.changed, self.n, level=2 * LEVEL)[1]

    def lower(self) -> float:
        """Return the one-sided lower bound of the change."""
        return -self.upper()

    def n_to_decide(self, limit: float, level_above: float | None = None) -> float:
        """Return the number of units, with the same share of changed ones, that decides
        on ``limit``; inf where none does.

        ``level_above``: level of the test that the change lies above the limit;
        default: :data:`LEVEL`.
        """
        level = LEVEL if limit > 0 else level_above or LEVEL
        if abs(limit) <= self.reach * self.changed / self.n:
            return inf
        share = self.changed / self.n

        def decides(n: float) -> bool:
            future = ChangedShare(self.value, round(share * n), int(n), self.reach)
            return future.p_below(abs(limit)) <= level

        return find_smallest_count(decides)

    def n_without_change(self, limit: float) -> float:
        """Return the smallest number of units at which the change is told to lie below
        ``limit`` if no unit changes.
        """
        if limit <= 0:
            return inf
        return ChangedShare(0.0, 0, 1, self.reach).n_to_decide(limit)
