"""Agreement of a metric with people on systems: correlation of system values, pairwise accuracy, soft pairwise accuracy."""

from __future__ import annotations

import numpy as np


def across_systems(human: np.ndarray, metric: np.ndarray, statistic: str) -> np.ndarray:
    """Return the agreement of two sets of system values under each weight vector, shape (W,); NaN where undefined.

    Parameters
    ----------
    human, metric : ndarray
        Values of S systems under W weight vectors, shape (W, S), higher is better.
    statistic : {"pearson", "spearman", "kendall", "accuracy"}
        ``kendall`` is tau-b; ``accuracy`` is the share of the pairs of systems that both order alike (a tie of the metric counts
        half, pairs with a human tie are left out).
    """
    if statistic == "spearman":
        human, metric = _ranks(human), _ranks(metric)
    if statistic in ("pearson", "spearman"):
        a, b = (values - values.mean(axis=1, keepdims=True) for values in (human, metric))
        with np.errstate(invalid="ignore", divide="ignore"):
            r = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1)) / np.sqrt((b * b).sum(axis=1))
        return np.where(np.isfinite(r), np.clip(r, -1.0, 1.0), np.nan)
    i, j = np.triu_indices(human.shape[1], 1)
    sign_h, sign_m = np.sign(human[:, i] - human[:, j]), np.sign(metric[:, i] - metric[:, j])
    defined = ~np.isnan(metric).any(axis=1) & ~np.isnan(human).any(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if statistic == "kendall":
            value = (sign_h * sign_m).sum(axis=1) / np.sqrt((sign_h**2).sum(axis=1)) / np.sqrt((sign_m**2).sum(axis=1))
        else:
            value = (np.where(sign_h != 0, (1 + sign_h * sign_m) / 2, 0.0)).sum(axis=1) / (sign_h != 0).sum(axis=1)
    return np.where(defined & np.isfinite(value), value, np.nan)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mid-ranks from 1 within each row, shape (W, S); NaN in a row that holds NaN."""
    below = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = below + (equal + 1) / 2
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, ranks)


class SoftPairwiseAccuracy:
    """Soft pairwise accuracy: one minus the mean difference of the one-sided p-values of people and of the metric.

    For each pair of systems the p-value is the share of random sign patterns of the items' differences whose mean is at least the
    observed one; people and metric get the same patterns.

    Parameters
    ----------
    human, metric : ndarray
        Scores of S systems on I items, shape (S, I), higher is better, NaN where a system has no caption; a pair of systems is
        compared on the items that both have in both arrays.
    draws : int
        Number of sign patterns.
    seed : int
        Seed of the patterns.

    References
    ----------
    Thompson, Mathur, Deutsch and Khayrallah, "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft
    Pairwise Accuracy" (WMT 2024).
    """

    def __init__(self, human: np.ndarray, metric: np.ndarray, draws: int = 1000, seed: int = 0) -> None:
        i, j = np.triu_indices(len(human), 1)
        self._human, self._metric = human[i] - human[j], metric[i] - metric[j]
        usable = ~(np.isnan(self._human) | np.isnan(self._metric))
        self._human, self._metric = np.where(usable, self._human, 0.0), np.where(usable, self._metric, 0.0)
        self._defined = usable.any(axis=1)
        rng = np.random.default_rng([seed, human.shape[1]])
        self._signs = (1 - 2 * rng.integers(0, 2, size=(draws, human.shape[1]))).astype(np.float64)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Return the accuracy for item weights (W, I), shape (W,), in [0, 1]; NaN when no pair has an item in common."""
        weights = np.asarray(weights, dtype=np.float64)
        total, pairs = np.zeros(len(weights)), 0
        for human, metric in zip(self._human[self._defined], self._metric[self._defined]):
            total += np.abs(self._p(weights * human) - self._p(weights * metric))
            pairs += 1
        return 1 - total / pairs if pairs else np.full(len(weights), np.nan)

    def _p(self, differences: np.ndarray) -> np.ndarray:
        """Return the one-sided p-values of weighted differences (W, I), shape (W,)."""
        observed = differences.sum(axis=1)
        scale = 1e-12 * np.abs(differences).sum(axis=1)
        return (differences @ self._signs.T >= (observed - scale)[:, None]).mean(axis=1)
