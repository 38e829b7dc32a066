"""Prediction-powered inference: the mean of scores that few examples have, with the help of predictions that all have.

With labels Y of n of N examples, drawn with known probabilities, and predictions f of all N, the estimate within a stratum of examples is

    mean over its N examples of lambda f  +  weighted mean over its labels of (Y - lambda f),

and strata count by their size. It is valid for every prediction that was not fitted on the labels: lambda holds the regression coefficients
of the labels on the predictions within strata, which make the variance smallest, and a prediction without information gets one near 0,
the mean of the labels alone. Unlike the packages ppi-python and truescore, lambda is not cut to [0, 1], so that predictions may have any
scale, also that of a cost.

References
----------
Angelopoulos, Duchi & Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*, arXiv:2311.01453 (power tuning); Zrnic & Candès (2024),
*Active Statistical Inference*, ICML (weights 1 / probability); Fisch et al. (2024), *Stratified Prediction-Powered Inference for Hybrid
Language Model Evaluation*, NeurIPS; Cochran (1977), *Sampling Techniques*, section 7.10: one coefficient for all strata, where each has few
labels; Särndal, Swensson & Wretman (1992), *Model Assisted Survey Sampling*, section 6.6 (variance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.stats.quantiles import student_quantile


@dataclass(frozen=True)
class PoweredMean:
    """Estimate of a mean with its interval."""

    value: float
    standard_error: float
    """NaN where the labels are too few."""
    ci95: tuple[float, float]


def powered_mean(
    labels: np.ndarray, predictions: np.ndarray, *, probabilities: np.ndarray | None = None, strata: np.ndarray | None = None,
    clusters: np.ndarray | None = None, tuning: np.ndarray | None = None, finite: bool = False,
) -> PoweredMean:  # fmt: skip
    """Return the prediction-powered estimate of the mean label.

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    predictions : ndarray
        Predictions of all examples, shape (N, p).
    probabilities : ndarray, optional
        Probability of a label, shape (N,), read where there are labels; default: a simple random sample within each stratum.
    strata : ndarray, optional
        Number of the stratum of each example, shape (N,), from 0.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (N,), where examples are not independent: the variance is that of sums over clusters.
    tuning : ndarray, optional
        Coefficients lambda of the predictions, shape (p,); default: those of smallest variance. Zeros: the labels alone.
    finite : bool
        Estimate the mean over these N examples alone, not over the population that they are drawn from.

    Returns
    -------
    PoweredMean
        The interval is that of Student's t. The standard error is NaN where a stratum has fewer than two labels, or the labels, or the
        clusters that have any, are not more than strata and coefficients together.

    Examples
    --------
    >>> labels, predictions = np.array([1.0, 2.0, 4.0, np.nan]), np.array([[1.0], [2.0], [3.0], [6.0]])
    >>> round(powered_mean(labels, predictions, tuning=np.ones(1)).value, 4)  # 3 for the mean prediction, 1 / 3 for the mean error
    3.3333
    """
    size, labelled = len(labels), ~np.isnan(labels)
    strata = np.zeros(size, dtype=np.int64) if strata is None else strata
    clusters = np.arange(size) if clusters is None else clusters
    totals, fitted = np.bincount(strata), predictions.shape[1] if tuning is None else 0
    counts = np.bincount(np.unique(np.stack([strata, clusters])[:, labelled], axis=1)[0], minlength=len(totals))  # clusters with labels
    free = len(np.unique(clusters[labelled])) - len(totals)
    freedom = free - fitted
    if counts.min() < 2 or freedom < 1:
        return PoweredMean(float(np.nanmean(labels)), np.nan, (np.nan, np.nan))
    weights = np.where(labelled, 1.0 if probabilities is None else 1 / probabilities, 0.0)
    weights *= (totals / np.bincount(strata, weights))[strata]  # the number of examples that a labelled one stands for

    def stratum_means(values: np.ndarray) -> np.ndarray:
        return (np.bincount(strata, weights * values) / totals)[strata]

    scores = np.where(labelled, labels, 0.0)
    mean_labels = stratum_means(scores)
    residuals = scores - mean_labels
    centered = np.stack([column - stratum_means(column) for column in predictions.T], axis=1)
    if tuning is None:
        # The variance over samples of labels is a sum over labelled examples of weight (weight - 1) residual².
        scale = np.sqrt(np.maximum(weights * (weights - 1), 0.0))
        tuning = np.linalg.lstsq(centered * scale[:, None], residuals * scale, rcond=None)[0]
    expected = mean_labels + centered @ tuning
    value = float(expected.mean())
    correction = np.sqrt(counts / (counts - 1) * free / freedom)[strata]
    errors = weights * correction * (residuals - centered @ tuning)
    units = len(np.unique(clusters))
    sampled = errors * np.sqrt(1 - 1 / np.maximum(weights, 1))
    addends = sampled if finite else (expected - value) * np.sqrt(units / (units - 1)) + errors
    standard_error = float(np.sqrt(np.sum(np.bincount(clusters, addends) ** 2))) / size
    half = student_quantile(freedom, 0.975) * standard_error
    return PoweredMean(value, standard_error, (value - half, value + half))
