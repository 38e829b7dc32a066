"""Prediction-powered inference: the mean of scores that few examples have, with the help of predictions that all have.

With labels Y of n of N examples, drawn with known probabilities, and predictions f of all N, the estimate within a stratum of examples is

    mean over its N examples of lambda f  +  weighted mean over its labels of (Y - lambda f),

and strata count by their size. It is valid for every prediction: lambda is the regression coefficient of the labels on the predictions
within strata, which makes the variance smallest, and a prediction without information gets lambda near 0, the mean of the labels alone.

References
----------
Angelopoulos, Duchi & Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*, arXiv:2311.01453 (power tuning); Zrnic & Candès (2024),
*Active Statistical Inference*, ICML (weights 1 / probability); Fisch et al. (2024), *Stratified Prediction-Powered Inference for Hybrid
Language Model Evaluation*, NeurIPS; Zrnic & Candès (2024), *Cross-prediction-powered inference*, PNAS 121(15); Cochran (1977), *Sampling
Techniques*, section 7.10: one coefficient for all strata, where each has few labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.stats.quantiles import student_quantile

FOLDS = 10
"""Number of folds of :func:`cross_fitted_predictions`."""


@dataclass(frozen=True)
class PoweredMean:
    """Estimate of a mean with its interval."""

    value: float
    standard_error: float
    ci95: tuple[float, float]
    tuning: float
    """Coefficient lambda of the predictions; 0: the labels alone."""


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """Sampling of the labels of N examples."""

    probabilities: np.ndarray | None = None
    """Probability of a label, shape (N,); read where there are labels. None: a simple random sample within each stratum."""
    strata: np.ndarray | None = None
    """Number of the stratum of each example, shape (N,); None: one stratum."""
    clusters: np.ndarray | None = None
    """Number of the cluster of each example, shape (N,); None: independent examples."""
    finite: bool = False
    """True for a mean over these N examples alone; False for one over the population that they are drawn from."""


def powered_mean(labels: np.ndarray, predictions: np.ndarray, design: LabelDesign, tuning: float | None = None) -> PoweredMean:
    """Return the prediction-powered estimate of the mean label.

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    predictions : ndarray
        Predictions of all examples, shape (N,).
    design : LabelDesign
        Sampling of the labels.
    tuning : float, optional
        Coefficient lambda of the predictions; default: the one of smallest variance.

    Returns
    -------
    PoweredMean
        The interval is that of Student's t; with clusters the variance is that of sums over clusters. NaN standard errors where the labels
        are too few: their number has to exceed that of strata by at least two, and every stratum needs two of them.

    Examples
    --------
    >>> labels, predictions = np.array([1.0, 2.0, 4.0, np.nan]), np.array([1.0, 2.0, 3.0, 6.0])
    >>> powered_mean(labels, predictions, LabelDesign(), tuning=1.0).value  # 3 for the mean prediction, 1 / 3 for the mean error
    3.3333333333333335
    """
    size, labelled = len(labels), ~np.isnan(labels)
    strata = np.zeros(size, dtype=np.int64) if design.strata is None else design.strata
    weights = _weights(labelled, design, strata)
    scores = np.where(labelled, labels, 0.0)
    totals = np.bincount(strata, minlength=int(strata.max()) + 1)

    def center(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted mean of the labelled examples in the stratum of each example, and the values minus these."""
        means = (np.bincount(strata, weights * values) / np.maximum(totals, 1))[strata]
        return means, values - means

    of_labels, label_residuals = center(scores)
    of_predictions, prediction_residuals = center(predictions)
    if tuning is None:
        leverage = np.maximum(weights * (weights - 1), 0.0) * prediction_residuals
        spread = float(leverage @ prediction_residuals)
        coefficient = float(leverage @ label_residuals) / spread if spread > 0 else 0.0
    else:
        coefficient = tuning
    expected = coefficient * (predictions - of_predictions) + of_labels
    value = float(expected.mean())
    errors = weights * (label_residuals - coefficient * prediction_residuals) * _degrees_correction(labelled, strata, tuning is None)
    clusters = np.arange(size) if design.clusters is None else design.clusters
    freedom = min(int(labelled.sum()), len(np.unique(clusters[labelled]))) - len(np.unique(strata)) - (tuning is None)
    if design.finite:
        variance = float(np.sum(np.bincount(clusters, errors * np.sqrt(np.maximum(1 - 1 / np.maximum(weights, 1), 0))) ** 2)) / size**2
    else:
        units = len(np.unique(clusters))
        variance = units / max(units - 1, 1) * float(np.sum(np.bincount(clusters, expected - value + errors) ** 2)) / size**2
    standard_error = float(np.sqrt(variance)) if freedom > 0 else float("nan")
    half = student_quantile(max(freedom, 1), 0.975) * standard_error
    return PoweredMean(value, standard_error, (value - half, value + half), coefficient)


def _weights(labelled: np.ndarray, design: LabelDesign, strata: np.ndarray) -> np.ndarray:
    """Return the number of examples (N,) that each labelled one stands for; they sum to the size of each stratum, 0 without a label."""
    inverse = labelled.astype(np.float64)
    if design.probabilities is not None:
        inverse[labelled] = 1 / design.probabilities[labelled]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.bincount(strata) / np.bincount(strata, inverse)
    return inverse * np.where(inverse > 0, share[strata], 0.0)


def _degrees_correction(labelled: np.ndarray, strata: np.ndarray, tuned: bool) -> np.ndarray:
    """Return the factors (N,) of residuals that make their squares unbiased, by the labels of each stratum and the fitted coefficient."""
    counts = np.bincount(strata, labelled)[strata]
    free = labelled.sum() - len(np.unique(strata))
    fitted = free / (free - 1) if tuned and free > 1 else 1.0
    return np.sqrt(counts / np.maximum(counts - 1, 1) * fitted)


def cross_fitted_predictions(labels: np.ndarray, columns: np.ndarray, clusters: np.ndarray | None = None, seed: int = 0) -> np.ndarray:
    """Return predictions of the labels by least squares on several columns, fitted without the labels that they predict.

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    columns : ndarray
        Scores of p metrics, shape (N, p).
    clusters : ndarray, optional
        Number of the cluster of each example, shape (N,): the labels of a cluster are left out together.
    seed : int
        Seed of the folds.

    Returns
    -------
    ndarray
        Predictions, shape (N,): of a labelled example by the fit to the other folds, of the others by the mean of all fits.
    """
    units = np.arange(len(labels)) if clusters is None else clusters
    labelled = np.flatnonzero(~np.isnan(labels))
    names, unit_of = np.unique(units[labelled], return_inverse=True)
    folds = (np.random.default_rng([seed, len(names)]).permutation(len(names)) % FOLDS)[unit_of]
    design = np.column_stack([np.ones(len(labels)), columns])
    fits: list[np.ndarray] = []
    predictions = np.empty(len(labels))
    for fold in range(min(FOLDS, len(names))):
        rows = labelled[folds != fold]
        fits.append(design @ np.linalg.lstsq(design[rows], labels[rows], rcond=None)[0])
        predictions[labelled[folds == fold]] = fits[-1][labelled[folds == fold]]
    unlabelled = np.isnan(labels)
    predictions[unlabelled] = np.mean(fits, axis=0)[unlabelled]
    return predictions


def allocate_labels(budget: int, sizes: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the number of labels (K,) of strata with which the variance of a mean is smallest, at least two of each stratum.

    Parameters
    ----------
    budget : int
        Number of labels in all, at most that of the examples.
    sizes : ndarray
        Number of examples of each stratum, shape (K,), at least two.
    spread : ndarray
        Standard deviation of the labels in each stratum, shape (K,), up to a common factor.

    References
    ----------
    Wright (2012), *The Equivalence of Neyman Optimum Allocation for Sampling and Equal Proportions for Apportioning the U.S. House of
    Representatives*, The American Statistician 66(4).

    Examples
    --------
    >>> allocate_labels(12, np.array([50, 100, 50]), np.array([1.0, 1.0, 2.0])).tolist()
    [2, 5, 5]
    """
    counts = np.full(len(sizes), 2)
    for _ in range(budget - int(counts.sum())):
        gain = np.where(counts < sizes, (sizes * spread) ** 2 / (counts * (counts + 1)), -1.0)
        counts[int(np.argmax(gain))] += 1
    return counts
