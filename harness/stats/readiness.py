"""Conditions that a sample must meet before an asymptotic confidence sequence says
anything about it.

An asymptotic sequence takes the deviation of the sample for that of the population.
Until the examples that carry the variance have occurred, the deviation is too small,
and the sequence excludes the true number: where one example in five hundred gains much
and all the others lose a little, most samples of 200 have small losses alone. Each
condition here names samples of which that may be true. None of them can see a group of
examples that has not occurred at all. Against it stands the range of the score, where
it is known (:func:`harness.stats.anytime.asymptotic_looks`); for a score without one
there are the conditions on values and signs, which are no proof.

``benchmarks/promises/sequences.py`` measures what they achieve, and where they fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

SPREAD = 1e-9
"""Deviation, as a share of the scale of the number,
that is rounding or a constant of a toolkit.
"""
CARRIERS = 40
"""Number of units that must carry the variance (:func:`count_carriers`). Fewer leave a
score without a declared range without an interval, and make that of the others wider.
"""
VALUES = 40
"""Number of different values that a score without a declared range must have shown. A
score of few values has a range that its reader knows and can declare; the values that
were seen say nothing about a rarer one far from them.
"""
OPPOSITE = 10
"""Number of units that must differ in either direction, of a score without a declared
range. Small differences of nearly one sign are also what rare large ones of the other
sign leave, before the first of them occurs.
"""


def count_carriers(influences: np.ndarray) -> float:
    """Return the effective number of units that carry the variance, (sum of squares)² /
    (sum of fourth powers), 0 without variance.

    It is the number of units divided by their kurtosis: a third of normal differences,
    and about the number of units that differ where few do. One unit of a share s of the
    sum of squares allows 1 / s² at most, so that forty carriers bound the share by 16
    %.

    >>> (
    ...     count_carriers(np.array([1.0, -1.0, 1.0, -1.0])),
    ...     count_carriers(np.array([5.0, 0.0, 0.0])),
    ... )
    (4.0, 1.0)
    """
    squares = influences**2
    fourth_powers = float(squares @ squares)
    return float(squares.sum()) ** 2 / fourth_powers if fourth_powers > 0 else 0.0


def find_shortage(
    influences: np.ndarray,
    difference: float,
    scale: float,
    *,
    ranged: bool,
    paired: bool,
    unit: str,
) -> str:
    """Return what a sample lacks for an asymptotic confidence sequence, as the end of
    "not yet: ..."; empty where it lacks nothing.

    Parameters
    ----------
    influences : ndarray
        Influence of each unit on the number, mean 0, shape (U,).
    difference : float
        The number, which is the mean of influences plus it.
    scale : float
        Size of the number that a deviation is compared with.
    ranged : bool
        The score has a declared range.
    paired : bool
        The number is a difference of two systems, so that the sign of a unit has a
        meaning.
    unit : str
        What a unit is, as a plural noun.
    """
    count = len(influences)
    if float(np.std(influences)) <= SPREAD * scale:
        return f"no spread in {count:,} {unit}"
    if ranged:
        return ""

    carriers = count_carriers(influences)
    if carriers < CARRIERS:
        return (
            f"the variance is that of {carriers:.0f} {unit}, "
            f"{CARRIERS} are needed without a declared range"
        )

    values = len(np.unique(np.round(influences / (SPREAD * scale))))
    if values < VALUES:
        return (
            f"{values} different values, {VALUES} are needed without a declared range"
        )

    numbers = influences + difference
    opposite = min(
        int((numbers > SPREAD * scale).sum()), int((numbers < -SPREAD * scale).sum())
    )
    if paired and opposite < OPPOSITE:
        return (
            f"{opposite} {unit} differ in the other direction, "
            f"{OPPOSITE} are needed without a declared range"
        )
    return ""


def change_by_absent(
    of_sums: Callable[[np.ndarray], np.ndarray], addends: np.ndarray, group: float
) -> float:
    """Return how much a number changes when a group of further units contributes to
    those of its sums that are 0 in all units.

    BLEU-4 without any match of four words is nearly 0 with a deviation of nearly 0,
    whatever a few matches would make of it.

    Parameters
    ----------
    of_sums : callable
        Sums (W, k) of addends to numbers (W,).
    addends : ndarray
        Addends of the units, shape (U, k).
    group : float
        Number of further units; each contributes the mean of the addends that are not
        0.
    """
    absent = ~addends.any(axis=0)
    if not absent.any() or absent.all():
        return 0.0

    total = addends.sum(axis=0)
    raised = total + group * float(np.abs(addends[addends != 0]).mean()) * absent
    before, after = of_sums(np.stack([total, raised]))
    return abs(float(after) - float(before)) if np.isfinite(after) else 0.0
