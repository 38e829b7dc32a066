"""Bounds of means whose values lie within known limits: valid at every number of units,
however skewed the values and however few differ.

A mean is tested by *betting*: the capital of a gambler who bets on the mean lying below
a limit is not expected to grow where it does not, so that it exceeds 1 / level with
probability ``level`` at most. Where no value varies, the bound is that of Clopper and
Pearson but for a few units. Shares have Clopper and Pearson's interval
(:func:`clopper_pearson`); pairs of right and wrong answers an exact test of their own
(:mod:`harness.decisions.statistics.paired_shares`).

References
----------
Waudby-Smith & Ramdas (2024), *Estimating means of bounded random variables by betting*,
JRSS B 86(1), section 4.1 and appendix B.1 for bets at a fixed number of units; Vovk &
Wang (2021), *E-values: calibration, combination and applications*, Annals of Statistics
49(3), for the average of e-values; Clopper & Pearson (1934), *The use of confidence or
fiducial limits*, Biometrika 26(4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, inf, log, sqrt

import numpy as np

from harness.decisions.statistics.sample_size import (
    LEVEL,
    POWER_QUANTILE,
    find_smallest_count,
)
from harness.errors import HarnessError

LARGEST_BET = 0.998
"""Largest share of the capital that one unit can lose."""
PRIOR = 0.05
"""Squared deviation of the one imagined unit that is known before the first bet, as a
share of the square of half the range.
"""
ORDERS = 16
"""Number of random orders of the units over which the capital is averaged."""
MOST_ORDERED = 4_000_000
"""Largest number of units times orders; many units have fewer orders, two at least."""
HALVINGS = 26
"""Halvings of the range until a bound is known."""


@dataclass(frozen=True, eq=False)
class BoundedMean:
    """A mean of values within [low, high] from independent units,
    with tests and bounds of both sides.

    Proof that a test holds its level. Let the mean be at least a limit m. The capital
    before unit t is multiplied by 1 + l (m N - S), where N is the number of values of
    the unit and S their sum, and where l depends on the units before alone and is at
    most c / ((high - m) N'), with N' the largest number of values of a unit. S is at
    most high N, so that the factor is at least 1 - c > 0. The expectation of m N - S is
    not positive, so that the factor's is 1 at most: the capital is a supermartingale
    that begins with 1. Several orders of the units that do not depend on the values
    have an average capital whose expectation is 1 at most too, and by Markov's
    inequality it reaches 1 / level with probability ``level`` at most. The bound is the
    smallest limit that is rejected: each factor grows with m, so that all larger limits
    are rejected too.

    What is assumed: units are independent and alike, and no unit of the population has
    more values than the largest one here. Values are never used to choose the method,
    and the limits ``low`` and ``high`` belong to the values' definition.

    The bet l is sqrt(2 log(1 / level) / (n s²)) with the variance s² of the units
    before, which makes the bound shortest for n units.
    """

    sums: np.ndarray
    """Sum of the values of each unit (a value, or a cluster of values), shape (U,), in
    an order that does not depend on the values.
    """
    sizes: np.ndarray
    """Number of values of each unit, shape (U,)."""
    low: float
    high: float
    """Smallest and largest possible value."""
    level: float = LEVEL
    seed: int = 0
    """Seed of the orders."""

    def __post_init__(self) -> None:
        """Raise :class:`HarnessError` for values outside of the limits."""
        slack = 1e-9 * (self.high - self.low) * self.sizes
        outside = (self.sums < self.low * self.sizes - slack) | (
            self.sums > self.high * self.sizes + slack
        )
        if outside.any():
            unit = int(np.argmax(outside))
            value = self.sums[unit] / self.sizes[unit]
            raise HarnessError(
                f"a value of {value:.6g} lies outside of its limits {self.low:g} and "
                f"{self.high:g}"
            )

    @classmethod
    def of_values(
        cls,
        values: np.ndarray,
        low: float,
        high: float,
        *,
        level: float = LEVEL,
        seed: int = 0,
    ) -> BoundedMean:
        """Return the mean of independent values, shape (U,)."""
        return cls(
            np.asarray(values, dtype=np.float64),
            np.ones(len(values)),
            low,
            high,
            level,
            seed,
        )

    @property
    def n(self) -> int:
        """Number of units."""
        return len(self.sums)

    @property
    def value(self) -> float:
        """The mean of all values."""
        return float(self.sums.sum() / self.sizes.sum())

    def p_below(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at least ``limit``:
        small where it lies below.
        """
        return exp(min(0.0, -self._below.log_capital(limit)))

    def p_above(self, limit: float) -> float:
        """Return the p-value of the hypothesis that the mean is at most ``limit``:
        small where it lies above.
        """
        return exp(min(0.0, -self._above.log_capital(-limit)))

    def upper(self) -> float:
        """Return the one-sided upper bound of the mean."""
        return self._below.bound()

    def lower(self) -> float:
        """Return the one-sided lower bound of the mean."""
        return -self._above.bound()

    def n_to_decide(self, limit: float, level_above: float | None = None) -> float:
        """Return the number of units that tells the mean from ``limit`` with power .8,
        if the values are alike; inf where equal.

        ``level_above``: level of the test that the mean lies above the limit; default:
        :attr:`level`.
        """
        if self.value == limit:
            return inf
        if self.value < limit:
            return self._below.units_to_decide(limit, self.level)
        return self._above.units_to_decide(-limit, level_above or self.level)

    def n_without_change(
        self, limit: float, unchanged: np.ndarray | None = None
    ) -> float:
        """Return the smallest number of units at which a mean is told to lie below
        ``limit`` if all units are ``unchanged``.

        ``unchanged`` has the sums of the units without a change, shape (U,); default:
        zeros.
        """
        return self._below.units_without_change(
            limit, np.zeros(self.n) if unchanged is None else unchanged
        )

    @cached_property
    def _orders(self) -> np.ndarray:
        """Positions of the units in each order, shape (J, U)."""
        count = max(2, min(ORDERS, MOST_ORDERED // max(1, self.n)))
        rng = np.random.default_rng(self.seed)
        return np.stack([rng.permutation(self.n) for _ in range(count)])

    @cached_property
    def _below(self) -> _Bets:
        return _Bets(
            self.sums, self.sizes, self.low, self.high, self.level, self._orders
        )

    @cached_property
    def _above(self) -> _Bets:
        return _Bets(
            -self.sums, self.sizes, -self.high, -self.low, self.level, self._orders
        )


class _Bets:
    """Bets on a mean lying below a limit, in several orders of the units."""

    def __init__(
        self,
        sums: np.ndarray,
        sizes: np.ndarray,
        low: float,
        high: float,
        level: float,
        orders: np.ndarray,
    ) -> None:
        self.sums = sums
        self.sizes = sizes
        self.low = low
        self.high = high
        self.level = level
        self.largest = float(sizes.max(initial=1.0))
        self.ordered_sums = sums[orders]
        self.ordered_sizes = sizes[orders]
        self.wanted = np.sqrt(2 * log(1 / level) / (len(sums) * self._variances()))
        """Bet on each unit in each order, shape (J, U),
        before it is cut to the largest one.
        """

    @property
    def prior(self) -> float:
        """Variance of the imagined unit before the first."""
        return PRIOR * ((self.high - self.low) / 2 * self.largest) ** 2

    def _variances(self) -> np.ndarray:
        """Return the variance of S - mean * N over the units before each unit and the
        imagined one, shape (J, U).
        """

        def sum_before(values: np.ndarray) -> np.ndarray:
            return np.cumsum(values, axis=1) - values

        sums = self.ordered_sums
        sizes = self.ordered_sizes
        total = sum_before(sums)
        count = sum_before(sizes)
        mean = total / np.maximum(count, 1.0)
        squares = (
            sum_before(sums**2)
            - 2 * mean * sum_before(sums * sizes)
            + mean**2 * sum_before(sizes**2)
        )
        return np.divide(
            self.prior + np.maximum(squares, 0.0), np.arange(1.0, len(self.sums) + 1)
        )

    def log_capital(self, limit: float) -> float:
        """Return the logarithm of the average capital that is bet on the mean lying
        below ``limit``.
        """
        room = (self.high - limit) * self.largest
        # No mean is as large, or only that of values that are all the largest.
        if room <= 0:
            is_smaller = bool((self.sums < self.high * self.sizes).any())
            return inf if room < 0 or is_smaller else 0.0

        bets = np.minimum(self.wanted, LARGEST_BET / room)
        gains = limit * self.ordered_sizes - self.ordered_sums
        # Values that exceed their limit by a rounding error lose no more than the limit
        # does.
        logs = np.log1p(np.maximum(bets * gains, -LARGEST_BET)).sum(axis=1)
        return float(np.logaddexp.reduce(logs)) - log(len(logs))

    def bound(self) -> float:
        """Return the smallest limit below which the mean is told to lie."""
        inside = self.low
        outside = self.high
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            if self.log_capital(middle) < log(1 / self.level):
                inside = middle
            else:
                outside = middle
        return outside

    def units_to_decide(self, limit: float, level: float) -> float:
        """Return the number of units, alike to those seen,
        at which the capital reaches 1 / level with power .8.
        """
        mean = float(self.sums.sum() / self.sizes.sum())
        variance = float(np.mean((self.sums - mean * self.sizes) ** 2))
        gains = limit * self.sizes - self.sums
        room = (self.high - limit) * self.largest
        if room <= 0:
            return 1.0
        largest_bet = LARGEST_BET / room

        def decides(n: float) -> bool:
            """Return whether the logarithm of the capital, which is normal for many
            units, is large enough with power .8.
            """
            bet = (
                largest_bet
                if variance == 0
                else min(largest_bet, sqrt(2 * log(1 / self.level) / (n * variance)))
            )
            growth = np.log1p(np.maximum(bet * gains, -LARGEST_BET))
            likely = n * float(growth.mean())
            unlucky = POWER_QUANTILE * sqrt(n) * float(growth.std())
            return likely - unlucky >= log(1 / level)

        return find_smallest_count(decides)

    def units_without_change(self, limit: float, unchanged: np.ndarray) -> float:
        """Return the number of unchanged units at which the capital reaches 1 /
        level.
        """
        room = (self.high - limit) * self.largest
        if room <= 0:
            return 1.0
        growth = float(
            np.log1p(LARGEST_BET * (limit * self.sizes - unchanged) / room).mean()
        )
        if growth <= 0:
            return inf

        # Without a change the variance is that of the imagined unit alone: bets grow as
        # the root of the number of units until they are the largest, after this share
        # of the units. The logarithm is concave, so that smaller bets gain their share
        # of it at least.
        growing = LARGEST_BET**2 * self.prior / (2 * log(1 / self.level) * room**2)
        mean_bet = 1 - growing / 3 if growing <= 1 else 2 / (3 * sqrt(growing))
        return float(ceil(log(1 / self.level) / (growth * mean_bet)))


def betting_interval(
    values: np.ndarray,
    low: float,
    high: float,
    *,
    sizes: np.ndarray | None = None,
    level: float = LEVEL,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the two-sided interval of a mean of values within [low, high]: it misses
    the mean with probability ``level`` at most.

    Parameters
    ----------
    values : ndarray
        Independent values, shape (U,), in an order that does not depend on them; with
        ``sizes``, sums of clusters of values.
    low, high : float
        Smallest and largest possible value.
    sizes : ndarray, optional
        Number of values of each cluster, shape (U,): the mean is the sum of all values
        divided by their number.
    level : float
        1 minus the coverage; half of it belongs to each end.
    seed : int
        Seed of the orders of the units.

    Examples
    --------
    >>> low, high = betting_interval(np.zeros(100), 0.0, 1.0)
    >>> low, round(high, 3)
    (0.0, 0.036)
    """
    sizes = np.ones(len(values)) if sizes is None else sizes
    mean = BoundedMean(
        np.asarray(values, dtype=np.float64),
        np.asarray(sizes, dtype=np.float64),
        low,
        high,
        level / 2,
        seed,
    )
    return mean.lower(), mean.upper()


def clopper_pearson(
    successes: int, trials: int, *, level: float = LEVEL
) -> tuple[float, float]:
    """Return the exact two-sided interval of a share;
    each end is a one-sided bound at half of the level.

    Examples
    --------
    >>> low, high = clopper_pearson(3, 3, level=0.1)
    >>> round(low, 3), high
    (0.368, 1.0)
    """
    from scipy.special import betaincinv  # pyright: ignore[reportMissingTypeStubs]

    tails = np.array([level / 2, 1 - level / 2])
    shapes = np.array(
        [[successes, trials - successes + 1], [successes + 1, trials - successes]],
        dtype=np.float64,
    )
    # Without a success, or a failure, the distribution of one end is a point that the
    # quantile does not know.
    ends = np.asarray(betaincinv(*np.maximum(shapes, 1e-300).T, tails))
    low, high = (float(end) for end in ends)
    return (low if successes else 0.0), (high if successes < trials else 1.0)
