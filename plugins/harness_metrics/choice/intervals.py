"""95 % intervals of shares and ratios over independent units (choices, groups,
questions).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.contracts import Interval, weighted_means
from harness.stats import bootstrap
from harness.stats.quantiles import wilson_interval

FEW = "an interval needs at least two independent choices, groups or questions"
"""Reason of a number of fewer than two units."""
FIXED = "a property of the task, not of the model"
"""Reason of the chance level."""


def of_share(
    values: np.ndarray,
    samples: int,
    seed: int,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Return the interval of the mean of values per unit, shape (U,).

    It is Wilson's where all values are 0 or 1 (or all at one bound), else a bootstrap
    over units.

    Parameters
    ----------
    values : ndarray
        One value per unit, within ``bounds``.
    samples, seed : int
        Bootstrap samples and their seed.
    bounds : tuple of float
        Smallest and largest possible value.
    """
    if len(values) < 2:
        return Interval(None, FEW)

    low, high = bounds
    unit = (values - low) / (high - low)
    if bool(np.isin(unit, (0.0, 1.0)).all()):
        ends = wilson_interval(float(unit.mean()), len(unit))
        return Interval((low + (high - low) * ends[0], low + (high - low) * ends[1]))

    def mean(weights: np.ndarray) -> np.ndarray:
        return weighted_means(weights, values)

    return of_ratio(mean, len(values), samples, seed, bounds)


def of_ratio(
    reduce: Callable[[np.ndarray], np.ndarray],
    units: int,
    samples: int,
    seed: int,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Return the bootstrap interval of a number that is a function of the weights (W,
    U) of its units.
    """
    if units < 2:
        return Interval(None, FEW)
    ends = bootstrap.confidence_interval(reduce, units, samples, seed)
    if ends is None:
        return Interval(None, bootstrap.NO_SPREAD)
    # Student's, of few units, is symmetric
    return Interval((max(bounds[0], ends[0]), min(bounds[1], ends[1])))
