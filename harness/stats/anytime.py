"""Inference that stays valid when one looks at the data after every example: confidence
sequences and anytime p-values.

The difference of two means within known bounds has a *betting* confidence sequence,
which holds at every n. Other numbers, such as a ratio of sums or a mean without bounds,
have an *asymptotic* one, which begins where the sample shows enough
(:mod:`harness.stats.readiness`). A test of exchangeability by random signs stands
beside them: it answers another question, and rejects skewed differences of mean 0.

References
----------
Waudby-Smith & Ramdas (2024), *Estimating means of bounded random variables by betting*,
JRSS B 86(1), sections 4 and 5; Waudby-Smith & Ramdas (2020), *Confidence sequences for
sampling without replacement*, NeurIPS; Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas
(2024), *Time-uniform central limit theory and asymptotic confidence sequences*, Annals
of Statistics 52(6), Theorem 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, log, sqrt

import numpy as np

from harness.stats.readiness import (
    CARRIERS,
    change_by_absent,
    count_carriers,
    find_shortage,
)

LEVEL = 0.05
"""1 minus the coverage of a confidence sequence."""
FIRST_LOOK = 200
"""Number of independent units before which no asymptotic confidence sequence begins."""
FRACTIONS = 0.99 * 0.5 ** np.arange(8)
"""Fractions of the capital that are bet, from nearly all to less than a hundredth; the
capital is divided equally among them.
"""
BISECTIONS = 20
"""Halvings of the range of a mean until the end of a confidence sequence is known."""


@dataclass(frozen=True)
class Look:
    """State of a confidence sequence after n independent units."""

    n: int
    difference: float
    low: float
    high: float
    p_value: float
    """The smallest anytime p-value up to here."""
    waits: str = ""
    """Lack of the sample that leaves it without an interval, as the end of "not yet:
    ..."; empty where there is an interval.
    """


def shift_look(look: Look, amount: float) -> Look:
    """Return the state of a sequence whose numbers are larger by an amount."""
    return replace(
        look,
        difference=look.difference + amount,
        low=look.low + amount,
        high=look.high + amount,
    )


def betting_looks(
    sums: np.ndarray,
    sizes: np.ndarray,
    bound: float,
    looks: Sequence[int],
    *,
    level: float = LEVEL,
    population: int | None = None,
    largest: float | None = None,
    ends: bool = True,
) -> list[Look]:
    """Return the betting confidence sequence of a mean of differences within [-bound,
    bound].

    For each candidate mean m, capital is bet on larger differences, and another half of
    the capital on smaller ones. Under the mean m neither capital is expected to grow,
    so that it exceeds 2 / level with probability level / 2 at most, at whatever time
    one looks (Ville's inequality). The sequence holds the means m whose capitals never
    did. Eight fractions of the capital are bet side by side, because the best one
    depends on the effect; nothing about the bets is taken from differences that are bet
    on.

    Parameters
    ----------
    sums : ndarray
        Sum of the differences of each independent unit (an example, or a cluster of
        examples) in the order of the looks, shape (U,).
    sizes : ndarray
        Number of examples of each unit, shape (U,).
    bound : float
        Largest absolute difference that is possible, declared by the metric.
    looks : sequence of int
        Numbers of units at which the sequence is wanted, increasing; p-values and ends
        use all units up to there.
    level : float
        1 minus the coverage.
    population : int, optional
        Number of examples of the data set, for a statement on its mean: examples are
        drawn from it without replacement. What the examples that are left can change at
        most bounds the mean too, so that the sequence ends at it.
    largest : float, optional
        Number of examples of the largest unit, where more units follow; default: of
        these units.
    ends : bool
        Search for the ends of the sequence; False: p-values alone.
    """
    largest = float(sizes.max()) if largest is None else largest
    bets = _SequenceBets(sums, sizes, bound, largest, population, level)
    total = np.cumsum(sums)
    count = np.cumsum(sizes)
    # What the examples that are left can still change of the sum.
    left = (
        np.full(len(sums), inf) if population is None else (population - count) * bound
    )

    best = np.maximum.accumulate(np.maximum(bets.log_capital(1), bets.log_capital(-1)))
    is_settled = np.abs(total) > left + 1e-9 * bound
    p_values = np.minimum.accumulate(
        np.where(is_settled, 0.0, np.minimum(1.0, 2 * np.exp(-best)))
    )

    path = list[Look]()
    low = -bound
    high = bound
    for stop in looks:
        mean = float(total[stop - 1] / count[stop - 1])
        reach = float(left[stop - 1])
        if ends:
            # The sequence never widens, so that the search goes on from its last ends.
            with np.errstate(over="ignore"):
                low = bets.find_end(1, stop, low, max(mean, low))
                high = bets.find_end(-1, stop, high, min(mean, high))
        if population is not None:
            low = max(low, (total[stop - 1] - reach) / population)
            high = min(high, (total[stop - 1] + reach) / population)
        path.append(
            Look(stop, mean, float(low), float(high), float(p_values[stop - 1]))
        )
    return path


class _SequenceBets:
    """Capitals that are bet against a mean, on larger and on smaller differences;
    parameters as in :func:`betting_looks`.
    """

    def __init__(
        self,
        sums: np.ndarray,
        sizes: np.ndarray,
        bound: float,
        largest: float,
        population: int | None,
        level: float,
    ) -> None:
        self._sums = sums
        self._sizes = sizes
        self._bound = bound
        self._largest = largest
        self._population = population
        self._level = level
        self._earlier = np.concatenate([[0.0], np.cumsum(sums)[:-1]])
        self._remaining = None
        if population is not None:
            self._remaining = population - np.concatenate(
                [[0.0], np.cumsum(sizes)[:-1]]
            )

    def growth(self, mean: float, sign: int, stop: int) -> np.ndarray:
        """Return the factors (stop, 8) of the capital that is bet on differences larger
        (sign 1) or smaller (-1) than a mean.
        """
        values = sign * self._sums[:stop]
        null = np.full(stop, sign * mean)
        if self._remaining is not None and self._population is not None:
            # Of a finite population the mean of the examples that are left follows from
            # those that are drawn.
            sum_left = self._population * sign * mean - sign * self._earlier[:stop]
            null = np.clip(sum_left / self._remaining[:stop], -self._bound, self._bound)

        # The largest loss of a unit is the whole stake: no factor falls below 0.
        stake = (self._bound + null) * self._largest + 1e-12 * self._bound
        unit = (values - null * self._sizes[:stop]) / stake
        return 1 + np.multiply.outer(np.maximum(unit, -1), FRACTIONS)

    def log_capital(self, sign: int) -> np.ndarray:
        """Return the logarithm of the capital (U,) that is bet against the mean 0."""
        logs = np.cumsum(np.log(self.growth(0.0, sign, len(self._sums))), axis=0)
        return np.logaddexp.reduce(logs, axis=1) - log(len(FRACTIONS))

    def find_end(self, sign: int, stop: int, outside: float, inside: float) -> float:
        """Return the smallest mean (sign 1; the largest for -1) whose capital stayed
        below 2 / level, between the ends given.
        """
        for _ in range(BISECTIONS):
            middle = (outside + inside) / 2
            capital = np.cumprod(self.growth(middle, sign, stop), axis=0).sum(axis=1)
            if capital.max() < 2 / self._level * len(FRACTIONS):
                inside = middle
            else:
                outside = middle
        return outside


def asymptotic_looks(
    of_sums: Callable[[np.ndarray], np.ndarray],
    a: np.ndarray,
    b: np.ndarray | None,
    looks: Sequence[int],
    *,
    level: float = LEVEL,
    reach: np.ndarray | None = None,
    unit: str = "examples",
) -> list[Look]:
    """Return the asymptotic confidence sequence of the difference of a function of sums
    between two systems.

    The function is linear in the sums up to a term that vanishes with n, so that the
    difference is a mean of influences of the units, for which the sequence of a mixture
    of normal distributions holds; the mixture is tightest at :data:`FIRST_LOOK`. A look
    has no interval, and leaves p as it was, before that number and where the sample
    lacks what :func:`~harness.stats.readiness.find_shortage` asks for.

    The deviation of the sample is too small until enough units carry it
    (:func:`~harness.stats.readiness.count_carriers`). Of a number within a known range
    it counts sqrt(40 / carriers) times as much where they are fewer than 40; without a
    range there is no interval.

    It says nothing about units that have not occurred. Where the range is known, let a
    share q of the population move the number by ``reach`` q at most. None of them is
    among the first n units with probability exp(-q n) at most, which is level / 2 once
    q n exceeds log(2 / level); later samples without them are among those. The interval
    is therefore at least ``reach`` log(2 / level) / n wide on either side, so that what
    has not been seen leads to a wrong look with probability level / 2 at most, however
    often one looks.

    Parameters
    ----------
    of_sums : callable
        Sums (W, k) of addends to numbers (W,).
    a, b : ndarray
        Addends of both systems, summed within each independent unit, in the order of
        the looks, shape (U, k); b None: of one number.
    looks : sequence of int
        Numbers of units, increasing.
    level : float
        1 minus the coverage.
    reach : ndarray, optional
        Largest change of the number by a share of the units, divided by the share: the
        range of the score, for units of one example. One for each number of units,
        shape (U,). None: the score has no range.
    unit : str
        What a unit is, as a plural noun, for :attr:`Look.waits`.
    """
    sides = [(a, 1.0), *([] if b is None else [(b, -1.0)])]
    totals = [np.cumsum(side, axis=0) for side, _ in sides]
    path: list[Look] = []
    p_value = 1.0
    for stop in looks:
        numbers = [float(of_sums(total[stop - 1 : stop])[0]) for total in totals]
        difference = sum(sign * number for number, (_, sign) in zip(numbers, sides))
        radius = inf
        p_here = 1.0
        if stop < FIRST_LOOK:
            waits = f"{stop} of {FIRST_LOOK} {unit}"
        elif not isfinite(difference):
            waits = "the number is undefined"
        else:
            addends = [(side[:stop], sign) for side, sign in sides]
            farthest = None if reach is None else float(reach[stop - 1])
            sample = _AsymptoticSample(of_sums, addends, numbers, farthest, unit)
            radius, p_here, waits = sample.judge(difference, level)
        if waits:
            path.append(Look(stop, difference, -inf, inf, p_value, waits))
            continue

        p_value = min(p_value, p_here)
        path.append(
            Look(stop, difference, difference - radius, difference + radius, p_value)
        )
    return path


@dataclass(frozen=True, eq=False)
class _AsymptoticSample:
    """The units up to a look; parameters as in :func:`asymptotic_looks`."""

    of_sums: Callable[[np.ndarray], np.ndarray]
    sides: list[tuple[np.ndarray, float]]
    """Addends of each system, shape (n, k), and the sign of its number."""
    numbers: list[float]
    """Number of each system."""
    reach: float | None
    unit: str

    def judge(self, difference: float, level: float) -> tuple[float, float, str]:
        """Return half the length of the interval, the p-value of this look and what the
        sample lacks for them, as in :attr:`Look.waits`.
        """
        n = len(self.sides[0][0])
        changes = np.sum(
            [sign * influences(self.of_sums, side) for side, sign in self.sides], axis=0
        )
        if self.reach is None:
            # A number without a range is compared with itself: what is left of equal
            # scores are roundings of its own size.
            scale = float(max(map(abs, self.numbers)) + np.abs(changes).max())
        else:
            scale = self.reach
        waits = find_shortage(
            changes,
            difference,
            scale,
            ranged=self.reach is not None,
            paired=len(self.sides) > 1,
            unit=self.unit,
        )

        deviation = float(np.std(changes))
        carriers = count_carriers(changes)
        if self.reach is not None and 0 < carriers < CARRIERS:
            # The range bounds what the missing carriers can be, so that a wider
            # interval does in the place of none.
            deviation *= sqrt(CARRIERS / carriers)
        # Parameter of the mixture that makes the interval after FIRST_LOOK units
        # shortest.
        rho = sqrt((-2 * log(level) + log(-2 * log(level) + 1)) / FIRST_LOOK)
        growth = n * rho**2 + 1
        radius = deviation * sqrt(
            2 * growth / (n * rho) ** 2 * log(sqrt(growth) / level)
        )

        unseen = log(2 / level)
        if not waits and self._change_by_absent(unseen) > radius:
            waits = f"a sum of the number is 0 in all {n:,} {self.unit}"
        if waits:
            return inf, 1.0, waits

        # The e-value of the mixture against the difference 0.
        log_e = (n * rho * difference / deviation) ** 2 / (2 * growth)
        p_value = exp(-max(log_e - log(growth) / 2, 0.0))
        if self.reach is not None:
            # Units that have not occurred may stand against the difference.
            radius = max(radius, self.reach * unseen / n)
            p_value = max(p_value, min(1.0, 2 * exp(-n * abs(difference) / self.reach)))
        return radius, p_value, ""

    def _change_by_absent(self, unseen: float) -> float:
        """Return how much unseen units can change by the sums that are 0 until here.

        Of a mean without a range the sums have units of their own, and a sum of zeros
        has no spread.
        """
        if self.reach is None:
            return 0.0
        return sum(
            change_by_absent(self.of_sums, side, unseen) for side, _ in self.sides
        )


def influences(
    of_sums: Callable[[np.ndarray], np.ndarray], addends: np.ndarray
) -> np.ndarray:
    """Return the influence (U,) of each unit on a function of the sums of addends (U,
    k), on the scale of the number.

    The number is approximately its value for infinitely many units plus the mean
    influence. The gradient is a central difference.

    >>> influences(
    ...     lambda sums: sums[..., 0] / sums[..., 1], np.array([[1.0, 1.0], [3.0, 1.0]])
    ... ).round(6).tolist()
    [-1.0, 1.0]
    """
    total = addends.sum(axis=0)
    steps = 1e-6 * np.maximum(np.abs(total), 1e-9)
    moved = np.diag(steps)
    with np.errstate(invalid="ignore", divide="ignore"):
        gradient = (of_sums(total + moved) - of_sums(total - moved)) / (2 * steps)
    return len(addends) * ((addends - addends.mean(axis=0)) @ np.nan_to_num(gradient))


def exchangeable_p_values(differences: np.ndarray) -> np.ndarray:
    """Return the anytime p-value after each difference, shape (U,), of the hypothesis
    that their signs are random.

    The bets are scaled by the root mean square of the differences before. Source:
    Ramdas, Ruf, Larsson & Koolen (2022), *Admissible anytime-valid sequential inference
    must rely on nonnegative martingales*, section on symmetric observations.

    >>> bool(exchangeable_p_values(np.ones(20))[-1] < 0.001)
    True
    """
    squares = np.cumsum(differences**2)
    before = np.zeros(len(squares))
    if len(squares) > 1:
        # The scale of a bet must not know the difference that is bet on.
        before[1:] = squares[:-1] / np.arange(1, len(squares))
    scale = np.where(before > 0, 1 / np.sqrt(np.where(before > 0, before, 1.0)), 0.0)

    strengths = np.concatenate([FRACTIONS, -FRACTIONS])
    with np.errstate(over="ignore"):
        # 1 + tanh x has the mean 1 when the sign of x is random; its logarithm is
        # x - log cosh x.
        bets = np.multiply.outer(differences * scale, strengths)
        growth = np.cumsum(log(2) - np.logaddexp(0.0, -2 * bets), axis=0)
    best = np.maximum.accumulate(
        np.logaddexp.reduce(growth, axis=1) - log(len(strengths))
    )
    return np.minimum(1.0, np.exp(-best))
