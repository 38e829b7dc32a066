"""Tiers 3 and 4 of the pre-gen metrics: aggregation of the captions of an image, and of
images, as segments of one array.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def _sum(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the sums of segments."""
    return np.add.reduceat(rows, offsets[:-1], axis=1)


def _mean(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the means of segments."""
    return _sum(rows, offsets) / np.diff(offsets)


def _max(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the maxima of segments."""
    return np.maximum.reduceat(rows, offsets[:-1], axis=1)


def _min(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the minima of segments."""
    return np.minimum.reduceat(rows, offsets[:-1], axis=1)


def _median(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the medians of segments; segments of one size are sorted together."""
    sizes = np.diff(offsets)
    out = np.empty((len(rows), len(sizes)))
    for size in np.unique(sizes).tolist():
        at = np.flatnonzero(sizes == size)
        block = rows[:, offsets[at][:, None] + np.arange(size)]  # (K, segments, size)
        low = (size - 1) // 2
        high = size // 2

        # Small segments are sorted, which is faster than a partition.
        if size > 16:
            block = np.partition(block, (low, high), axis=2)
        else:
            block = np.sort(block, axis=2)

        middle = block[:, :, low]
        if low != high:
            middle = (middle + block[:, :, high]) / 2
        out[:, at] = middle
    return out


def _geomean(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the geometric means of segments, 0 for a segment with a 0,
    even beside an inf.
    """
    # log 0 = -inf beside an inf would give NaN: zeros are taken out and put back.
    zero = np.logical_or.reduceat(rows == 0, offsets[:-1], axis=1)
    logs = np.log2(np.where(rows == 0, 1.0, rows))
    return np.where(zero, 0.0, np.exp2(_mean(logs, offsets)))


AGGREGATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "geomean": _geomean,
    "max": _max,
    "min": _min,
}
"""Rows ``(K, members)`` and offsets ``(segments + 1,)`` -> aggregates
``(K, segments)``; no segment is empty.
"""
