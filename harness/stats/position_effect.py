"""Test whether values depend on their position within an example, by permuting them within examples."""

from __future__ import annotations

import numpy as np

DRAWS = 1000
"""Number of permutations; the smallest p-value is 1 / (DRAWS + 1)."""


def position_p_value(values: np.ndarray, draws: int = DRAWS, seed: int = 0) -> float:
    """Return the p-value of the hypothesis that the values of each example are exchangeable.

    The statistic is the sum over positions of the number of values times the square of their mean deviation from the means of their
    examples.

    Parameters
    ----------
    values : ndarray
        One row per example, shape (examples, positions); NaN after the last value of an example with fewer.
    draws : int
        Number of random permutations within all examples.
    seed : int
        Seed of the permutations.

    Examples
    --------
    >>> rising = np.arange(4.0) + np.zeros((20, 1))
    >>> position_p_value(rising) < 0.001, position_p_value(np.ones((20, 4)))
    (True, 1.0)
    """
    absent = np.isnan(values)
    filled = np.where(absent, 0.0, values)
    counts = np.maximum(1, (~absent).sum(axis=1, keepdims=True))
    deviations = np.where(absent, 0.0, filled - filled.sum(axis=1, keepdims=True) / counts)
    present = np.maximum(1, (~absent).sum(axis=0))

    def statistic(rows: np.ndarray) -> float:
        return float((rows.sum(axis=0) ** 2 / present).sum())

    observed = statistic(deviations)
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for _ in range(draws):
        keys = rng.random(values.shape)
        keys[absent] = 2.0
        permuted = np.take_along_axis(deviations, np.argsort(keys, axis=1), axis=1)
        as_extreme += statistic(permuted) >= observed * (1 - 1e-12)  # sums in another order
    return (1 + as_extreme) / (1 + draws)
