"""Level of one check in a series of checks,
and the random relabelings that a level needs.

A p-value of N random relabelings is at least 1 / (N + 1), and one of few answers at
least that of their number of relabelings. A check at a lower level finds nothing,
whatever the answers are: the relabelings are raised to what the level needs, and what
no number serves is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.decisions.same.answer_kernels import KERNELS
from harness.errors import HarnessError

RESOLUTION = 5
"""Number of relabelings that the level must be, as a share of all: at 1 a single chance
hit would lose the change.
"""
MOST_DRAWS = 1_000_000
"""Maximum number of random relabelings of string kernels; those of 25 prompts of 10 +
10 answers take a minute.
"""
MOST_METRIC_DRAWS = 20_000
"""Maximum number where a metric is a kernel:
its standardisation holds all of them at once.
"""


@dataclass(frozen=True)
class NightSeries:
    """Place of a check in a series whose checks together have a false alarm with
    probability alpha at most, whatever they share.

    With ``nights`` each of so many checks has the level alpha / nights. With ``night``
    K alone the level is alpha · 6 / (π² K²), whose sum over all K is alpha: the series
    has no end, and its levels go to 0.
    """

    night: int | None = None
    nights: int | None = None

    def level(self, alpha: float) -> float:
        """Return the level of this check.

        >>> (
        ...     NightSeries(nights=50).level(0.05),
        ...     round(NightSeries(night=2).level(0.05), 6),
        ... )
        (0.001, 0.007599)
        """
        if self.nights:
            return alpha / self.nights
        return alpha * 6 / (math.pi * self.night) ** 2 if self.night else alpha

    def check(self) -> None:
        """Raise :class:`HarnessError` for a check beyond the end of the series."""
        if self.night and self.nights and self.night > self.nights:
            raise HarnessError(
                f"same: night={self.night} of nights={self.nights}: "
                "the level is spent; begin again at night 1 with a fresh baseline",
                parameter="night",
                value=self.night,
            )

    def check_level(
        self, alpha: float, smallest_p: float, kernels: Sequence[str], tests: int
    ) -> None:
        """Raise :class:`HarnessError`, with the largest number that can be served,
        where this check could not find anything.

        Parameters
        ----------
        alpha : float
            Level of the whole series.
        smallest_p : float
            Smallest p-value that the numbers of answers allow.
        kernels : sequence of str
            Kernels of the test.
        tests : int
            Number of pairs of sources that share the level.
        """
        most = most_draws(kernels)
        smallest = max(smallest_p, RESOLUTION / most) * tests
        if self.level(alpha) >= smallest:
            return

        # Levels fall as the number grows, so that the largest one that is served
        # follows from the smallest level.
        parameter = "night"
        number = self.night
        largest = math.sqrt(alpha * 6 / smallest) / math.pi
        if self.nights:
            parameter = "nights"
            number = self.nights
            largest = alpha / smallest
        served = _largest_where(
            lambda k: self._with(k).level(alpha) >= smallest, round(largest)
        )

        limit = (
            f"at most {most:,} relabelings are drawn, "
            f"which serve levels from {smallest:.3g}"
        )
        if smallest_p * most > RESOLUTION:
            limit = (
                "these answers have too few relabelings for a level below "
                f"{smallest:.3g}"
            )
        advice = "no series of checks can be tested with them"
        if served:
            advice = f"the largest number that they serve is {parameter}={served}"
        raise HarnessError(
            f"same: {parameter}={number} tests at level {self.level(alpha):.3g}; "
            f"{limit}; {advice}",
            parameter=parameter,
            value=number,
        )

    def _with(self, number: int) -> NightSeries:
        return NightSeries(nights=number) if self.nights else NightSeries(night=number)


def _largest_where(served: Callable[[int], bool], guess: int) -> int:
    """Return the largest number next to a guess that is served; 0 without one."""
    return max((k for k in range(max(guess - 1, 1), guess + 2) if served(k)), default=0)


def most_draws(kernels: Sequence[str]) -> int:
    """Return the maximum number of random relabelings that are drawn for some
    kernels.
    """
    return MOST_DRAWS if set(kernels) <= set(KERNELS) else MOST_METRIC_DRAWS


def draws_needed(level: float, kernels: Sequence[str]) -> int:
    """Return the number of relabelings, the observed one included, of which the share
    of a level is :data:`RESOLUTION`, or the maximum.

    >>> draws_needed(0.001, ["exact"])
    5000
    """
    return min(math.ceil(RESOLUTION / level - 1e-6), most_draws(kernels))
