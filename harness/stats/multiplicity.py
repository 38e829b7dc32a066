"""Adjusted p-values for many tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> np.ndarray:
    """Return Holm's adjusted p-values, shape (k,); they control the family-wise error rate. NaN stays NaN and does not count.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values, order = _sort_p_values(p)
    k = len(order)
    adjusted = np.maximum.accumulate(values[order] * (k - np.arange(k)))
    return _restore_order(p, order, np.minimum(adjusted, 1.0))


def benjamini_hochberg_adjusted(p: Sequence[float]) -> np.ndarray:
    """Return Benjamini and Hochberg's adjusted p-values, shape (k,); they control the false discovery rate.

    NaN stays NaN and does not count.

    >>> benjamini_hochberg_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    values, order = _sort_p_values(p)
    k = len(order)
    adjusted = np.minimum.accumulate((values[order] * k / (1 + np.arange(k)))[::-1])[::-1]
    return _restore_order(p, order, np.minimum(adjusted, 1.0))


def _sort_p_values(p: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (k,) and the positions of those that are not NaN, in increasing order."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    return values, order[~np.isnan(values[order])]


def _restore_order(p: Sequence[float], order: np.ndarray, adjusted: np.ndarray) -> np.ndarray:
    out = np.full(len(p), np.nan)
    out[order] = adjusted
    return out
