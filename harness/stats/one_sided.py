"""One-sided tests and bounds of a mean of skewed values: Student's t after Hall's transformation."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from harness.stats.quantiles import student_quantile, student_tail

LEVEL = 0.05
"""Level of a one-sided test; a bound has the coverage 1 minus the level."""
MOST_SKEWED = 0.3
"""Skewness over the root of n beyond which the transformation is flat: a few values decide the mean. P-values and bounds are then the more
cautious ones of two corrections, that of the whole skewness and that of this much."""
POWER_QUANTILE = 0.8416
"""Quantile of the normal distribution at the power .8."""


@dataclass(frozen=True)
class SkewedMean:
    """A mean with its standard error and the skewness of its values, for tests of both sides.

    Differences of captions are skewed (many ties, few large gains), so that Student's t rejects too often on one side and too rarely on
    the other. Hall's transformation of t removes this error of order n^-1/2, and it is monotone, so that tests and bounds agree.

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

    @classmethod
    def of(cls, value: float, influences: np.ndarray) -> SkewedMean:
        """Return the mean with the spread of the influences (U,) of the independent units."""
        centred = influences - float(influences.mean())
        deviation = float(np.sqrt(np.mean(centred**2)))
        if len(influences) < 2 or deviation <= 1e-12 * float(np.max(np.abs(influences), initial=0.0)):
            return cls(float(value), 0.0 if len(influences) > 1 else inf, len(influences))
        error = deviation / sqrt(len(influences) - 1)
        return cls(float(value), error, len(influences), float(np.mean(centred**3)) / deviation**3)

    def p_below(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at least ``limit``: small where it lies below."""
        return self._share(limit, 1)

    def p_above(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at most ``limit``: small where it lies above."""
        return self._share(limit, -1)

    def upper(self) -> float:
        """Return the one-sided upper bound of the mean at :data:`LEVEL`."""
        return self._bound(LEVEL)

    def lower(self) -> float:
        """Return the one-sided lower bound of the mean at :data:`LEVEL`."""
        return self._bound(1 - LEVEL)

    def n_to_decide(self, limit: float) -> float:
        """Return the number of units that tells the mean from ``limit`` with power .8, if the mean is the one observed; inf where equal."""
        gap = abs(limit - self.value)
        return inf if gap == 0 else self.n * ((1.6449 + POWER_QUANTILE) * self.error / gap) ** 2

    def _share(self, limit: float, side: int) -> float:
        if self.error == 0:  # no difference varies: the value is certain, and a value at the limit does not exceed it
            return float((self.value > limit) if side > 0 else (self.value <= limit))
        t, root = (self.value - limit) / self.error, sqrt(self.n)
        transformed = [t + skew * t**2 / (3 * root) + skew**2 * t**3 / (27 * self.n) + skew / (6 * root) for skew in self._skews]
        return max(student_tail(self.n - 1, -side * value) for value in transformed) if self.n > 1 else 1.0

    @property
    def _skews(self) -> tuple[float, float]:
        most = MOST_SKEWED * sqrt(self.n)
        return self.skewness, float(np.clip(self.skewness, -most, most))

    def _bound(self, tail: float) -> float:
        if not 0 < self.error < inf:
            return self.value if self.error == 0 else (inf if tail < 0.5 else -inf)
        root, quantile = sqrt(self.n), student_quantile(self.n - 1, tail)
        ends = list[float]()
        for skew in self._skews:
            shifted = quantile - skew / (6 * root)
            t = 3 * root / skew * float(np.cbrt(1 + skew * shifted / root) - 1) if abs(skew) > 1e-6 else quantile
            ends.append(self.value - self.error * t)
        return max(ends) if tail < 0.5 else min(ends)
