"""Intervals of numbers of a whole corpus by a jackknife over groups of examples, where
a bootstrap would repeat texts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.contracts import CorpusMetric, Interval, LeftOut, Objects
from harness.stats import jackknife

GROUPS = 20
"""Number of groups; the standard error has 19 degrees of freedom."""
SPLITS = 10
"""Number of random splits into halves; as many degrees of freedom."""
HALVED = range(20, 1001)
"""Numbers of examples for which halves are left out: fewer have no halves that resemble
them, more take too long.
"""
NOTE = (
    "jackknife over {groups} groups of examples: "
    "of the number expected for a corpus of this size"
)
HALVES_NOTE = (
    "jackknife over {groups} halves of the examples: "
    "of the number expected for a corpus of this size"
)
NO_SPREAD = "the number is the same without each group of examples"
"""Reason for no interval."""


def groups_of(examples: int, seed: int) -> np.ndarray:
    """Return the random group of each example, shape (B,), in 0 .. min(B,
    :data:`GROUPS`) - 1, of equal sizes up to one.
    """
    count = min(examples, GROUPS)
    rng = np.random.default_rng([seed, examples, count])
    return rng.permutation(np.arange(examples) % count)


def without_groups(
    number: Callable[[np.ndarray], float], examples: int, seed: int
) -> LeftOut:
    """Return a number of B examples without each group.

    Parameters
    ----------
    number : callable
        Maps the indices of examples (b,), ascending, to the number of their corpus.
    examples : int
        Number of examples B, at least 2.
    seed : int
        Seed of the groups.
    """
    group = groups_of(examples, seed)
    numbers = [number(np.flatnonzero(group != g)) for g in range(group.max() + 1)]
    return of_groups(np.array(numbers))


def of_groups(values: np.ndarray) -> LeftOut:
    """Return the numbers without each group, shape (G,),
    with the share of a group and the degrees of freedom.
    """
    return LeftOut(values, 1 / len(values), len(values) - 1)


def without_halves(
    number: Callable[[np.ndarray], float], examples: int, seed: int
) -> LeftOut:
    """Return a number of both halves of :data:`SPLITS` random splits of B examples;
    parameters are those of :func:`without_groups`.

    For numbers such as those of nearest neighbours, of which a jackknife over small
    groups overestimates the variance.
    """
    rng = np.random.default_rng([seed, examples, 2])
    values = list[float]()
    # Both halves of a split are as large, and independent: their difference has the
    # variance of the number at half the size.
    for _ in range(SPLITS):
        order = rng.permutation(examples)
        for half in (order[: examples // 2], order[examples // 2 :]):
            values.append(number(np.sort(half)))
    return LeftOut(np.array(values), 0.5, SPLITS)


def interval_of(
    value: float, left_out: LeftOut, bounds: tuple[float, float] | None = None
) -> Interval:
    """Return the 95 % interval of a number from the numbers without parts of the
    examples, or the reason for none.

    Parameters
    ----------
    value : float
        The number of all examples.
    left_out : LeftOut
        The numbers without groups or halves.
    bounds : tuple of float, optional
        Smallest and largest possible number.
    """
    ends = jackknife.interval_of_parts(value, left_out)
    values = left_out.values
    if ends is None:
        reason = "the number is undefined without some groups of examples"
        if np.isfinite(values).all():
            reason = NO_SPREAD
        return Interval(None, reason)

    if bounds is not None:
        ends = max(ends[0], bounds[0]), min(ends[1], bounds[1])
    note = HALVES_NOTE if len(values) > left_out.freedom + 1 else NOTE
    return Interval(ends, note.format(groups=len(values)))


class Jackknifed(CorpusMetric):
    """Base of corpus metrics whose interval is a jackknife over groups of examples."""

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the interval of the jackknife over groups of examples."""
        left_out = self.left_out(stats, seed)
        return interval_of(self.reduce(stats), left_out, self.spec.bounds)

    def left_out(self, stats: Objects, seed: int) -> LeftOut:
        """Return the number without each of at most 20 groups of examples."""
        return without_groups(lambda rows: self.reduce(stats[rows]), len(stats), seed)
