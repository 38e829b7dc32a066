"""Intervals of numbers of a whole corpus by a jackknife over groups of examples, where a bootstrap would repeat texts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.contracts import Interval
from harness.stats import jackknife

GROUPS = 20
"""Number of groups; the standard error has 19 degrees of freedom."""
NOTE = "jackknife over {groups} groups of examples: of the number expected for a corpus of this size"
NO_SPREAD = "the number is the same without each group of examples"
"""Reason for no interval."""


def groups_of(examples: int, seed: int) -> np.ndarray:
    """Return the random group of each example, shape (B,), in 0 .. min(B, :data:`GROUPS`) - 1, of equal sizes up to one."""
    count = min(examples, GROUPS)
    return np.random.default_rng([seed, examples, count]).permutation(np.arange(examples) % count)


def without_groups(number: Callable[[np.ndarray], float], examples: int, seed: int) -> np.ndarray:
    """Return a number of B examples without each group, shape (G,).

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
    return np.array([number(np.flatnonzero(group != g)) for g in range(group.max() + 1)])


def of_groups(
    number: Callable[[np.ndarray], float], examples: int, seed: int, bounds: tuple[float, float] | None = None
) -> Interval:
    """Return the 95 % interval of a number of B examples, or the reason for none; parameters are those of :func:`without_groups`.

    Parameters
    ----------
    number, examples, seed
        As for :func:`without_groups`.
    bounds : tuple of float, optional
        Smallest and largest possible number.
    """
    return from_values(number(np.arange(examples)), without_groups(number, examples, seed), bounds)


def from_values(value: float, without: np.ndarray, bounds: tuple[float, float] | None = None) -> Interval:
    """Return the interval of a number from the numbers without each group, shape (G,)."""
    ends = jackknife.interval(value, without)
    if ends is None:
        return Interval(
            None, NO_SPREAD if np.isfinite(without).all() else "the number is undefined without some groups of examples"
        )
    if bounds is not None:
        ends = max(ends[0], bounds[0]), min(ends[1], bounds[1])
    return Interval(ends, NOTE.format(groups=len(without)))
