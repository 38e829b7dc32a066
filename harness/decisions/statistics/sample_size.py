"""Numbers of units that a test needs: the level and the power that are meant, and the
search for the smallest number that decides.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

LEVEL = 0.05
"""Level of a one-sided test; a bound has the coverage 1 minus the level."""
POWER_QUANTILE = 0.8416
"""Quantile of the normal distribution at the power .8."""
MOST_UNITS = 1e15
"""Number of units beyond which none decides."""


def find_smallest_count(decides: Callable[[float], bool]) -> float:
    """Return the smallest number of units that decides, where all larger ones do too;
    inf where none below :data:`MOST_UNITS` does.

    >>> (
    ...     find_smallest_count(lambda n: n * 0.01 >= 3),
    ...     find_smallest_count(lambda n: False),
    ... )
    (300.0, inf)
    """
    enough = 1.0
    while not decides(enough):
        enough *= 2
        if enough > MOST_UNITS:
            return inf
    few = enough / 2
    while enough - few > max(1.0, 1e-6 * enough):
        middle = float(round((few + enough) / 2))
        few, enough = (few, middle) if decides(middle) else (middle, enough)
    return enough
