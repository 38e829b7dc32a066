"""One-sided tests and bounds of a mean of values without known limits: Student's t
after Hall's transformation, where the sample allows it.

No test of such a mean holds its level for all distributions: the values that have not
been seen may be of any size. These tests are *undecided* where a sample says little
about its distribution, and their level is measured where they decide
(benchmarks/promises/gate.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from harness.decisions.statistics.sample_size import (
    LEVEL,
    POWER_QUANTILE,
    find_smallest_count,
)
from harness.stats.quantiles import student_quantile, student_tail

FEWEST = 20
"""Number of units that have to differ. A change that has not been seen has a
probability of 1 / 7 at most, with 95 % confidence.
"""
FEWEST_REPEATED = 300
"""The same where the differences take few values, as grades do: rare ones may be much
larger than all that were seen.
"""
FEWEST_EFFECTIVE = 20
"""Number of equal differences that the variance has to consist of:
n divided by the kurtosis.
"""
MOST_KURTOSIS = 5.0
"""Kurtosis up to which fewer than these are enough: 3 is that of normal values, which
samples of 20 exceed by as much.
"""
MOST_ONE_SIDED = 0.3
"""Skewness over the root of n from which the side of the few large values is undecided.
"""
MOST_SKEWED = 0.3
"""Skewness over the root of n beyond which the transformation is flat: a few values
decide the mean. P-values and bounds are then the more cautious ones of two corrections,
that of the whole skewness and that of this much.
"""
HIDDEN_SKEWNESS = 0.25
"""Skewness that a sample does not show, in standard errors of the skewness of normal
values.
"""
UNSEEN = 0.5
UNSEEN_UNITS = 100
"""Number of unseen units, as far from the mean as the farthest one that was seen, that
are added to n units or to this many.
"""


@dataclass(frozen=True)
class SkewedMean:
    """A mean with its standard error and the skewness of its values,
    for tests of both sides.

    Differences of captions are skewed (many ties, few large gains), so that Student's t
    rejects too often on one side and too rarely on the other. Hall's transformation of
    t removes this error of order n^-1/2, and it is monotone, so that tests and bounds
    agree. The skewness of a sample is smaller than that of its distribution, since the
    largest values are rare: on the side where it makes the test bolder, it counts
    twice.

    References
    ----------
    Hall (1992), *On the removal of skewness by transformation*, JRSS B 54(1).
    """

    value: float
    error: float
    """Standard error; 0 for values that do not vary."""
    n: int
    """Number of independent units."""
    skewness: float = 0.0
    farthest: float = 0.0
    """Distance of the farthest value from the mean."""
    least: float = 0.0
    """Number of units alike to these that is enough for a decision."""
    reason: str = ""
    """Reason why nothing is decided; empty where ``n`` is enough."""

    @classmethod
    def of(
        cls, value: float, influences: np.ndarray, differ: np.ndarray | None = None
    ) -> SkewedMean:
        """Return the mean with the spread of the influences (U,) of the independent
        units.

        ``differ`` is the mask (U,) of the units that differ between the two versions;
        default: those whose influence is not 0.
        """
        n = len(influences)
        centred = influences - float(influences.mean()) if n else influences
        deviation = float(np.sqrt(np.mean(centred**2))) if n else 0.0
        largest = float(np.max(np.abs(influences), initial=0.0))
        if n < 2 or deviation <= 1e-12 * largest:
            return cls(
                float(value),
                0.0 if n > 1 else inf,
                n,
                least=inf,
                reason="no difference varies" if n > 1 else "there is one unit",
            )

        scaled = centred / deviation
        least, reason = _count_needed(
            scaled, influences != 0 if differ is None else differ
        )
        mean = cls(
            float(value),
            deviation / sqrt(n - 1),
            n,
            float(np.mean(scaled**3)),
            float(np.abs(centred).max()),
            least,
        )
        return replace(mean, reason=reason if least > n else "")

    @classmethod
    def of_error(cls, value: float, error: float, n: int, changed: int) -> SkewedMean:
        """Return a number of n units with its standard error, of which ``changed``
        differ between the two versions.
        """
        least = n * FEWEST / changed if changed else inf
        reason = ""
        if least > n:
            reason = f"{changed:,} of {n:,} differ, {FEWEST} have to"
        elif not error > 0:
            reason = "no difference varies"
        return cls(float(value), error, n, least=least, reason=reason)

    def p_below(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at least ``limit``:
        small where it lies below.
        """
        return self._share(limit, 1)

    def p_above(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at most ``limit``:
        small where it lies above.
        """
        return self._share(limit, -1)

    def upper(self) -> float:
        """Return the one-sided upper bound of the mean at :data:`LEVEL`;
        inf where nothing is decided.
        """
        return self._bound(1)

    def lower(self) -> float:
        """Return the one-sided lower bound of the mean at :data:`LEVEL`;
        -inf where nothing is decided.
        """
        return self._bound(-1)

    def n_to_decide(self, limit: float, level_above: float | None = None) -> float:
        """Return the number of units that tells the mean from ``limit`` with power .8,
        if the values are alike; inf where equal.

        ``level_above``: level of the test that the mean lies above the limit; default:
        :data:`LEVEL`.
        """
        side = 1 if self.value < limit else -1
        if self.value == limit or not 0 < self.error < inf:
            return inf

        def decides(n: float) -> bool:
            if n < self.least:
                return False
            error = self.error * sqrt(self.n / n)
            # The mean of an unlucky sample is nearer to the limit.
            future = replace(
                self,
                value=self.value + side * POWER_QUANTILE * error,
                error=error,
                n=int(n),
                reason="",
            )
            if side > 0:
                return future.p_below(limit) <= LEVEL
            return future.p_above(limit) <= (level_above or LEVEL)

        return find_smallest_count(decides)

    def _share(self, limit: float, side: int) -> float:
        """Return the p-value of the hypothesis that the mean is at least (side 1) or at
        most (-1) a limit.
        """
        if not self._decides(side):
            return 1.0
        root = sqrt(self.n)
        t = (self.value - limit + side * self._shift) / self.error
        transformed: list[float] = []
        for skew in self._skews(side):
            square = skew * t**2 / (3 * root)
            cube = skew**2 * t**3 / (27 * self.n)
            transformed.append(t + square + cube + skew / (6 * root))
        return max(student_tail(self.n - 1, -side * value) for value in transformed)

    def _bound(self, side: int) -> float:
        """Return the upper (side 1) or lower (-1) bound."""
        if not self._decides(side):
            return side * inf
        root = sqrt(self.n)
        quantile = student_quantile(self.n - 1, LEVEL if side > 0 else 1 - LEVEL)
        ends = list[float]()
        for skew in self._skews(side):
            # The inverse of the transformation; without skewness that is Student's t.
            t = quantile
            if abs(skew) > 1e-6:
                shifted = quantile - skew / (6 * root)
                t = 3 * root / skew * float(np.cbrt(1 + skew * shifted / root) - 1)
            ends.append(self.value - self.error * t + side * self._shift)
        return max(ends) if side > 0 else min(ends)

    def _decides(self, side: int) -> bool:
        """Return whether the sample allows a decision on the upper (side 1) or lower
        (-1) side.
        """
        return (
            not self.reason
            and 0 < self.error < inf
            and self.n > 1
            and side * self.skewness <= MOST_ONE_SIDED * sqrt(self.n)
        )

    @property
    def _shift(self) -> float:
        """Change of the mean by unseen units."""
        return UNSEEN * self.farthest / max(self.n, UNSEEN_UNITS)

    def _skews(self, side: int) -> tuple[float, float]:
        hidden = max(side * self.skewness, 0.0) + HIDDEN_SKEWNESS * sqrt(6 / self.n)
        skew = self.skewness + side * hidden
        most = MOST_SKEWED * sqrt(self.n)
        return skew, float(np.clip(skew, -most, most))


def _count_needed(scaled: np.ndarray, differ: np.ndarray) -> tuple[float, str]:
    """Return the number of units alike to those seen that is enough for a decision,
    and why it is needed.

    ``scaled`` has their influences with mean 0 and variance 1, shape (U,), ``differ``
    is the mask of those that differ.
    """
    n = len(scaled)
    count = int(differ.sum())
    takes_few_values = len(np.unique(scaled[differ].round(9))) < count / 2
    fewest = FEWEST_REPEATED if takes_few_values else FEWEST
    needed = n * fewest / count if count else inf
    if needed > n:
        condition = " where differences take few values" if takes_few_values else ""
        return needed, f"{count:,} of {n:,} differ, {fewest} have to{condition}"

    kurtosis = float(np.mean(scaled**4))
    if kurtosis <= MOST_KURTOSIS:
        return needed, ""
    reason = (
        f"a few decide the mean, as if {n / kurtosis:.0f} differed and all others "
        "did not"
    )
    return max(needed, FEWEST_EFFECTIVE * kurtosis), reason
