"""Average precision and area under the ROC curve under row weights, with ties of the scores as one threshold."""

from __future__ import annotations

import numpy as np

from harness.stats.weighted_correlation import in_chunks


class Detection:
    """Detection of the rows with a positive label by high scores.

    Parameters
    ----------
    scores : ndarray
        Scores, shape (n,), without NaN; a higher score means that a positive label is more likely.
    positive : ndarray
        Labels, bool, shape (n,).
    measure : {"average_precision", "auc"}
        Average precision is the sum over thresholds of (recall gained) x (precision at the threshold), without interpolation. The
        area under the ROC curve is the share of (positive, negative) pairs in the right order, ties half.
    """

    def __init__(self, scores: np.ndarray, positive: np.ndarray, measure: str) -> None:
        self._order = np.argsort(-scores, kind="stable")
        ordered = scores[self._order]
        self._starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        self._positive = positive[self._order].astype(np.float64)
        self._measure = measure

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return the measure for row weights (W, n), shape (W,), in [0, 1]; NaN without a positive or a negative row."""
        return in_chunks(self._values, np.asarray(weights, dtype=np.float64))

    def _values(self, weights: np.ndarray) -> np.ndarray:
        ordered = weights[:, self._order]
        positive = np.add.reduceat(ordered * self._positive, self._starts, axis=1)
        every = np.add.reduceat(ordered, self._starts, axis=1)
        hits, seen = np.cumsum(positive, axis=1), np.cumsum(every, axis=1)
        positives, negatives = hits[:, -1], seen[:, -1] - hits[:, -1]
        with np.errstate(invalid="ignore", divide="ignore"):
            if self._measure == "average_precision":
                precision = np.where(seen > 0, hits / seen, 0.0)
                value = (positive * precision).sum(axis=1) / positives
            else:
                misses = seen - hits
                below = negatives[:, None] - misses + (every - positive) / 2
                value = (positive * below).sum(axis=1) / (positives * negatives)
        return np.where((positives > 0) & (negatives > 0), value, np.nan)
