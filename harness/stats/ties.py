"""Equality of values of a statistic up to rounding error, relative to a scale of the statistic.

Relabelings (or sign patterns) that have equal values in exact arithmetic differ by rounding errors in floating point. Counted as
smaller, such a tie makes a p-value too small. Two values therefore count as equal if they differ by at most

    precision * scale.

The *scale* is a magnitude of the statistic of one example, in the unit of the statistic, so that a change of the unit (of embeddings,
distances or scores) changes no p-value. It comes from the terms of the statistic, or from its null distribution where the terms are
not available. The observed value alone is not enough: it may be 0 because large terms cancel, and its rounding error is then that of
the terms.

The *precision* is that of the numbers which differ between equal relabelings. Values computed in float64 from the same numbers differ
by the errors of summation, ``FLOAT64``. Embeddings and model outputs are float32, and texts that a model does not distinguish (such
as "A dog" and "a dog") have vectors that differ by rounding when they are encoded in different batches: ``FLOAT32``.
"""

from __future__ import annotations

from typing import overload

import numpy as np

FLOAT64 = 1e-12
"""Relative tolerance for sums in float64: about 4500 times the machine epsilon."""
FLOAT32 = 1e-6
"""Relative tolerance for statistics of float32 numbers: about 8 times the machine epsilon."""


@overload
def tolerance(scale: float, precision: float = FLOAT64) -> float: ...
@overload
def tolerance(scale: np.ndarray, precision: float = FLOAT64) -> np.ndarray: ...
def tolerance(scale: np.ndarray | float, precision: float = FLOAT64) -> np.ndarray | float:
    """Return the largest difference of two values of a statistic that counts as rounding error.

    Parameters
    ----------
    scale : float or ndarray
        Magnitude of the statistic, at least 0, in its unit: the sum of the absolute values of its terms, or the largest absolute
        value of its null distribution (:func:`magnitude`).
    precision : float
        Relative tolerance: ``FLOAT64``, or ``FLOAT32`` for statistics of float32 numbers.

    Returns
    -------
    float or ndarray
        Tolerance, in the shape of ``scale``.

    Examples
    --------
    >>> differences = [0.1, 0.2, -0.3]
    >>> abs(sum(differences)) > 0, abs(sum(differences)) <= tolerance(sum(map(abs, differences)))
    (True, True)
    """
    return precision * scale


def magnitude(values: np.ndarray) -> np.ndarray:
    """Return the largest finite absolute value along the last axis, shape (...), for values (..., P); 0 if there is none.

    >>> magnitude(np.array([[1.0, -3.0, np.nan], [np.inf, np.nan, np.nan]]))
    array([3., 0.])
    """
    sizes = np.abs(values)
    return np.where(np.isfinite(sizes), sizes, 0.0).max(axis=-1, initial=0.0)
