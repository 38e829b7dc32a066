"""Jackknife intervals, for numbers that a bootstrap biases because it repeats
examples.
"""

from __future__ import annotations

import numpy as np

from harness.contracts import LeftOut
from harness.stats.quantiles import student_quantile, student_tail

MOST_PARTS = 1000
"""Maximum number of parts that :func:`weights_without_items` leaves out."""


def interval(
    value: float,
    without: np.ndarray,
    level: float = 0.95,
    *,
    pairs: np.ndarray | None = None,
) -> tuple[float, float] | None:
    """Return the interval value ± t standard errors of the jackknife; None when
    ``without`` does not differ or is undefined.

    The variance is on average not too small, whatever the statistic; it counts the
    quadratic part of a statistic twice. ``pairs`` correct that.

    Parameters
    ----------
    value : float
        The number of all examples.
    without : ndarray
        The number without each of G examples, or without each of G groups of equal
        size, shape (G,), G at least 2.
    level : float
        Nominal coverage.
    pairs : ndarray, optional
        The number without two examples, shape (G, G), symmetric; the diagonal is not
        read. Used when all others are finite.

    References
    ----------
    Efron & Stein (1981), *The Jackknife Estimate of Variance*, Annals of Statistics
    9(3), section 5 for the correction.

    Examples
    --------
    >>> low, high = interval(2.0, np.array([2.5, 2.0, 1.5]))  # the mean of 1, 2, 3
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    if not np.isfinite(without).all() or np.ptp(without) == 0:
        return None

    groups = len(without)
    variance = _variance(without)
    if pairs is not None:
        variance -= _excess(value, without, pairs)
    half = student_quantile(groups - 1, (1 + level) / 2) * float(np.sqrt(variance))
    return value - half, value + half


def interval_of_parts(
    value: float, left_out: LeftOut, level: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval value ± t standard errors of the delete-d jackknife; None
    when the numbers do not differ or are undefined.

    The variance of numbers without parts of the share f is (1 - f) / f times their
    spread. Parts of one example or group give the variance of :func:`interval`. Large
    parts, such as halves, are for numbers that change abruptly when single examples are
    left out.

    Parameters
    ----------
    value : float
        The number of all examples.
    left_out : LeftOut
        The numbers without parts of the examples.
    level : float
        Nominal coverage.

    References
    ----------
    Shao & Wu (1989), *A General Theory for Jackknife Variance Estimation*, Annals of
    Statistics 17(3), equation 1.5.

    Examples
    --------
    >>> low, high = interval_of_parts(
    ...     2.0, LeftOut(np.array([2.5, 2.0, 1.5]), 1 / 3, 2)
    ... )  # the mean of 1, 2, 3
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    error = _error_of_parts(left_out)
    if error is None:
        return None
    half = student_quantile(left_out.freedom, (1 + level) / 2) * error
    return value - half, value + half


def p_value_of_parts(value: float, left_out: LeftOut) -> float:
    """Return the two-sided p-value of the hypothesis that the expected number is 0: at
    most 0.05 where 0 is outside the interval.

    Parameters
    ----------
    value : float
        The number of all examples, such as a difference of two systems.
    left_out : LeftOut
        The numbers without parts of the examples.

    Returns
    -------
    float
        P-value of Student's t; 1 for the number 0, NaN where another number has no
        standard error.

    Examples
    --------
    >>> round(
    ...     p_value_of_parts(2.0, LeftOut(np.array([2.5, 2.0, 1.5]), 1 / 3, 2)), 4
    ... )  # the t test of 1, 2, 3
    0.0742
    """
    if value == 0:
        return 1.0
    error = _error_of_parts(left_out)
    if error is None:
        return float("nan")
    return 2 * student_tail(left_out.freedom, abs(value) / error)


def weights_without_items(items: int) -> np.ndarray:
    """Return the weights of all items and of those without each one in turn,
    shape (1 + items, items).

    Beyond :data:`MOST_PARTS` items parts of several items are left out.
    """
    parts = min(items, MOST_PARTS)
    membership = np.arange(items) % parts != np.arange(-1, parts)[:, None]
    return membership.astype(np.float64)


def t_test(values: np.ndarray) -> tuple[float, float]:
    """Return Student's t and the two-sided p-value of the hypothesis that a number is
    0.

    Parameters
    ----------
    values : ndarray
        The number under each of :func:`weights_without_items`, shape (1 + parts,); NaN
        without parts.

    Examples
    --------
    >>> weights = weights_without_items(3)
    >>> t, p = t_test(weights @ np.array([1.0, 2.0, 3.0]) / weights.sum(axis=1))
    >>> round(t, 3), round(p, 4)  # the t test of 1, 2, 3
    (3.464, 0.0742)
    """
    value = float(values[0])
    parts = len(values) - 1
    left_out = LeftOut(values[1:], parts and 1 / parts, parts - 1)
    error = _error_of_parts(left_out)
    if error:
        t = value / error
    else:
        t = 0.0 if value == 0 else float("nan")
    return t, p_value_of_parts(value, left_out)


def _error_of_parts(left_out: LeftOut) -> float | None:
    """Return the standard error of the number of all examples; None without spread."""
    values = left_out.values
    if len(values) < 2 or not np.isfinite(values).all() or np.ptp(values) == 0:
        return None
    spread = float(np.var(values))
    return float(np.sqrt((1 - left_out.share) / left_out.share * spread))


def _variance(without: np.ndarray) -> float:
    """Return the jackknife variance of the number of all examples, from the numbers
    without each of G groups, shape (G,).
    """
    groups = len(without)
    return (groups - 1) / groups * float(np.sum((without - without.mean()) ** 2))


def _excess(value: float, without: np.ndarray, pairs: np.ndarray) -> float:
    """Return the part of the variance that the jackknife counts twice, at most half of
    the variance; 0 where it is undefined.
    """
    groups = len(without)
    upper = np.triu_indices(groups, 1)
    second = (
        groups * value
        - (groups - 1) * (without[upper[0]] + without[upper[1]])
        + (groups - 2) * pairs[upper]
    )
    if not np.isfinite(second).all():
        return 0.0
    excess = float(np.sum((second - second.mean()) ** 2)) / (groups * (groups - 1))
    return min(excess, _variance(without) / 2)
