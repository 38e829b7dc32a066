"""Interval of the share of successes, for scores that take only their smallest and largest value."""

from __future__ import annotations

import numpy as np

from harness.stats.quantiles import normal_quantile


def wilson_interval(share: float, n_examples: int, level: float = 0.95) -> tuple[float, float]:
    """Return the score interval of a binomial share: (low, high) in [0, 1], which contains ``share``.

    A bootstrap of shares near 0 or 1 covers too rarely, and has no spread at 0 and 1. For the mean of any scores in [0, 1] that
    are all 0 (or all 1) the interval is that of the share of scores other than 0, which bounds the mean.

    Parameters
    ----------
    share : float
        Share of successes, in [0, 1].
    n_examples : int
        Number of trials, at least 1.
    level : float
        Nominal coverage.

    References
    ----------
    Wilson (1927), *Probable Inference, the Law of Succession, and Statistical Inference*, JASA 22(158); Brown, Cai & DasGupta (2001),
    *Interval Estimation for a Binomial Proportion*, Statistical Science 16(2).

    Examples
    --------
    >>> low, high = wilson_interval(0.0, 20)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.161)
    """
    z = normal_quantile((1 + level) / 2)
    spread = z * np.sqrt(share * (1 - share) / n_examples + z**2 / (4 * n_examples**2))
    scale = 1 + z**2 / n_examples
    low, high = ((share + z**2 / (2 * n_examples) + sign * spread) / scale for sign in (-1, 1))
    return max(0.0, min(float(low), share)), min(1.0, max(float(high), share))
