"""Jackknife intervals, for numbers that a bootstrap biases because it repeats examples."""

from __future__ import annotations

import numpy as np


def interval(value: float, without: np.ndarray, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval value ± t standard errors of the jackknife; None when ``without`` does not differ or is undefined.

    The variance is on average not too small, whatever the statistic.

    Parameters
    ----------
    value : float
        The number of all examples.
    without : ndarray
        The number without each of G examples, or without each of G groups of equal size, shape (G,), G at least 2.
    level : float
        Nominal coverage.

    References
    ----------
    Efron & Stein (1981), *The Jackknife Estimate of Variance*, Annals of Statistics 9(3).

    Examples
    --------
    >>> low, high = interval(2.0, np.array([2.5, 2.0, 1.5]))  # the mean of 1, 2, 3
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    from scipy.special import stdtrit  # pyright: ignore[reportMissingTypeStubs]

    if not np.isfinite(without).all() or np.ptp(without) == 0:
        return None
    groups = len(without)
    variance = (groups - 1) / groups * float(np.sum((without - without.mean()) ** 2))
    half = float(stdtrit(groups - 1, (1 + level) / 2)) * float(np.sqrt(variance))
    return value - half, value + half
