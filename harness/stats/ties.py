"""Equality of values of a statistic up to rounding error, relative to a scale of the
statistic, and of scores up to their tolerance.

Relabelings (or sign patterns) that have equal values in exact arithmetic differ by
rounding errors in floating point. Counted as smaller, such a tie makes a p-value too
small. Two values therefore count as equal if they differ by at most

    precision * scale.

The *scale* is a magnitude of the statistic of one example, in the unit of the
statistic, so that a change of the unit (of embeddings, distances or scores) changes no
p-value. It comes from the terms of the statistic, or from its null distribution where
the terms are not available. The observed value alone is not enough: it may be 0 because
large terms cancel, and its rounding error is then that of the terms.

The *precision* is that of the numbers which differ between equal relabelings. Values
computed in float64 from the same numbers differ by the errors of summation,
``FLOAT64``. Embeddings and model outputs are float32, and texts that a model does not
distinguish (such as "A dog" and "a dog") have vectors that differ by rounding when they
are encoded in different batches: ``FLOAT32``.

Scores of a metric differ by more than rounding where its formula has constants: the
COCO toolkit adds 1e-15 to the matches of BLEU and 1e-9 to what they are divided by, so
that a perfect BLEU-1 is .9999999998, a caption without a word in common has 1e-16, more
or less by its length, and 3 matches of 6 words are not 4 of 8. What such scores are
worth is declared by the metric: ``MetricSpec.tolerance`` and
:class:`~harness.contracts.HasConstants`. :func:`without_constants` takes every score
that the definition makes 0 as 0, for wins, sign tests and intervals.
:func:`rank_scores` takes as 0 those that are constants alone: a caption that has words,
but no 4-gram in common has a BLEU-4 of 1e-5 whose order among others of its kind comes
from its words, and agreement with people is published with that order.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from harness.contracts import HasConstants, Metric, Objects

FLOAT64 = 1e-12
"""Relative tolerance for sums in float64: about 4500 times the machine epsilon."""
FLOAT32 = 1e-6
"""Relative tolerance for statistics of float32 numbers: about 8 times the machine
epsilon.
"""


@overload
def tolerance(scale: float, precision: float = FLOAT64) -> float: ...
@overload
def tolerance(scale: np.ndarray, precision: float = FLOAT64) -> np.ndarray: ...
def tolerance(
    scale: np.ndarray | float, precision: float = FLOAT64
) -> np.ndarray | float:
    """Return the largest difference of two values of a statistic that counts as
    rounding error.

    Parameters
    ----------
    scale : float or ndarray
        Magnitude of the statistic, at least 0, in its unit: the sum of the absolute
        values of its terms, or the largest absolute value of its null distribution
        (:func:`magnitude`).
    precision : float
        Relative tolerance: ``FLOAT64``, or ``FLOAT32`` for statistics of float32
        numbers.

    Returns
    -------
    float or ndarray
        Tolerance, in the shape of ``scale``.

    Examples
    --------
    >>> differences = [0.1, 0.2, -0.3]
    >>> (
    ...     abs(sum(differences)) > 0,
    ...     abs(sum(differences)) <= tolerance(sum(map(abs, differences))),
    ... )
    (True, True)
    """
    return precision * scale


def magnitude(values: np.ndarray) -> np.ndarray:
    """Return the largest finite absolute value along the last axis, shape (...), for
    values (..., P); 0 if there is none.

    >>> magnitude(np.array([[1.0, -3.0, np.nan], [np.inf, np.nan, np.nan]]))
    array([3., 0.])
    """
    sizes = np.abs(values)
    return np.where(np.isfinite(sizes), sizes, 0.0).max(axis=-1, initial=0.0)


def settle(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Return values (n,) or (n, D) of which those that differ by at most ``tolerance``,
    a share of the larger one, are equal in a column.

    The members of a chain of such neighbours have the value of the smallest one; NaN
    stays.

    Examples
    --------
    >>> settle(np.array([0.5, 0.3, 0.5 + 1e-10, -0.3]), 1e-7).tolist()
    [0.5, 0.3, 0.5, -0.3]
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 2:
        return values

    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    below = ordered[:-1]
    above = ordered[1:]
    with np.errstate(invalid="ignore"):  # infinities have no difference
        is_close = above - below <= tolerance * np.maximum(np.abs(above), np.abs(below))
    is_finite = np.isfinite(above) & np.isfinite(below)
    is_tie = (above == below) | (is_close & is_finite)

    # Each value takes that of the last one at or before it that is no tie of its
    # neighbour below.
    positions = np.arange(1, len(values)).reshape(-1, *[1] * (values.ndim - 1))
    start = np.zeros(values.shape, dtype=np.int64)
    start[1:] = np.where(is_tie, 0, np.broadcast_to(positions, is_tie.shape))
    start = np.maximum.accumulate(start, axis=0)
    settled = np.empty_like(values)
    smallest = np.take_along_axis(ordered, start, axis=0)
    np.put_along_axis(settled, order, smallest, axis=0)
    return settled


def without_constants(metric: Metric, stats: Any, scores: np.ndarray) -> np.ndarray:
    """Return scores (B,) of a metric, 0 where they would be 0 without its constants,
    from its statistics of the B examples.

    Statistics that are missing (None) or objects leave the scores as they are.
    """
    if stats is None or isinstance(stats, Objects):
        return scores
    if not isinstance(metric, HasConstants):
        return scores
    return np.where(metric.own_share(stats) < 1, 0.0, scores)


def rank_scores(metric: Metric, stats: Any, scores: np.ndarray) -> np.ndarray:
    """Return scores (B,) of a metric as they rank the examples: 0 where they are made
    of constants alone; parameters as above.
    """
    if stats is None or isinstance(stats, Objects):
        return scores
    if not isinstance(metric, HasConstants):
        return scores
    return np.where(metric.own_share(stats) == 0, 0.0, scores)
