"""Prediction-powered inference: the mean of scores that few examples have, with the
help of predictions that all have.

With labels Y of n of N examples, drawn with known probabilities, and predictions f of
all N, the estimate within a stratum of examples is

    mean over its N examples of lambda f + weighted mean over its labels of (Y - lambda
    f),

and strata count by their size. It is right for every prediction that was not fitted on
the labels: lambda holds the regression coefficients of the labels on the predictions
within strata, which make the variance smallest, and a prediction without information
gets one near 0, the mean of the labels alone. Unlike the packages ppi-python and
truescore, lambda is not cut to [0, 1], so that predictions may have any scale, also
that of a cost.

References
----------
Angelopoulos, Duchi & Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*,
arXiv:2311.01453 (power tuning); Zrnic & Candès (2024), *Active Statistical Inference*,
ICML (weights 1 / probability); Fisch et al. (2024), *Stratified Prediction-Powered
Inference for Hybrid Language Model Evaluation*, NeurIPS; Cochran (1977), *Sampling
Techniques*, section 7.10: one coefficient for all strata, where each has few labels;
Särndal, Swensson & Wretman (1992), *Model Assisted Survey Sampling*, section 6.6
(variance, with the weight of each label in the estimate, result 6.6.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.errors import counted
from harness.stats.leverage import LinearEstimate
from harness.stats.skewed_interval import skewed_interval

FEWEST_LABELS = 20
"""Number of labels, or of clusters that have any, below which there is no interval:
that of skewed scores would miss too often.
"""
FEWEST_SPARE = 18
"""Number of them, without those of strata and coefficients,
below which there is no interval.
"""
FEWEST_IN_STRATUM = 7
"""Number of them in one of several strata below which its variance is not known."""
SMALL_STRATA = 0.1
"""Largest share of the examples that strata of unknown variance may hold."""
FEWEST_FREEDOM = 10.0
"""Degrees of freedom below which there is no interval, for equal weights. Labels that
seldom have been drawn are missing from most samples just where they are worth most, so
that unequal weights need more: times the square of their design effect, n sum(w²) /
sum(w)².
"""

SAME = 1e-9
"""Root of the sum of the squared residuals, over the range of the labels, below which
they are rounding errors.
"""


@dataclass(frozen=True)
class PoweredMean:
    """Estimate of a mean with its interval."""

    value: float
    standard_error: float
    """NaN where the labels are too few for the estimate."""
    ci95: tuple[float, float] | None
    """None where no interval has the coverage that it promises."""
    reason: str = ""
    """Why there is no interval."""


def powered_mean(
    labels: np.ndarray,
    predictions: np.ndarray,
    *,
    probabilities: np.ndarray | None = None,
    strata: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    tuning: np.ndarray | None = None,
    finite: bool = False,
) -> PoweredMean:
    """Return the prediction-powered estimate of the mean label.

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    predictions : ndarray
        Predictions of all examples, shape (N, p).
    probabilities : ndarray, optional
        Probability of a label, shape (N,), read where there are labels; default: a
        simple random sample within each stratum.
    strata : ndarray, optional
        Number of the stratum of each example, shape (N,), from 0.
    clusters : ndarray, optional
        Number of the cluster of each example, shape (N,), where examples are not
        independent: the variance is that of sums over clusters.
    tuning : ndarray, optional
        Coefficients lambda of the predictions, shape (p,); default: those of smallest
        variance. Zeros: the labels alone.
    finite : bool
        Estimate the mean over these N examples alone, not over the population that they
        are drawn from.

    Returns
    -------
    PoweredMean
        The interval is Student's with a correction for skewness
        (:func:`~harness.stats.skewed_interval.skewed_interval`); the degrees of freedom
        are those of the weights of the labels. It is None below the numbers of labels
        and degrees of freedom that this module states, none of which looks at the
        labels, and for equal labels. The standard error is NaN where a stratum has
        fewer than two labels, or the labels, or the clusters that have any, are not
        more than strata and coefficients together.

    Examples
    --------
    >>> labels, predictions = (
    ...     np.array([1.0, 2.0, 4.0, np.nan]),
    ...     np.array([[1.0], [2.0], [3.0], [6.0]]),
    ... )
    >>> found = powered_mean(
    ...     labels, predictions, tuning=np.ones(1)
    ... )  # 3 for the mean prediction, 1 / 3 for the mean error
    >>> round(found.value, 4), found.ci95, found.reason
    (3.3333, None, '3 labels; an interval needs 20')
    """
    size = len(labels)
    labelled = ~np.isnan(labels)
    strata = np.zeros(size, dtype=np.int64) if strata is None else strata
    clusters = np.arange(size) if clusters is None else clusters
    totals = np.bincount(strata)
    fitted = predictions.shape[1] if tuning is None else 0
    # clusters with labels
    counts = np.bincount(
        np.unique(np.stack([strata, clusters])[:, labelled], axis=1)[0],
        minlength=len(totals),
    )
    units = len(np.unique(clusters[labelled]))
    if counts.min() < 2 or units - len(totals) - fitted < 1:
        return PoweredMean(
            float(np.nanmean(labels)),
            np.nan,
            None,
            f"{counted(units, 'label')} for {counted(len(totals), 'stratum')}",
        )
    weights = np.where(
        labelled, 1.0 if probabilities is None else 1 / probabilities, 0.0
    )
    # the number of examples that a labelled one stands for
    weights *= (totals / np.bincount(strata, weights))[strata]

    def stratum_means(values: np.ndarray) -> np.ndarray:
        return (np.bincount(strata, weights * values) / totals)[strata]

    scores = np.where(labelled, labels, 0.0)
    mean_labels = stratum_means(scores)
    centered = np.stack(
        [column - stratum_means(column) for column in predictions.T], axis=1
    )
    rows = np.flatnonzero(labelled)
    weight = weights[rows]
    stratum = strata[rows]
    columns = centered[rows]
    in_stratum = np.eye(len(totals))[stratum]
    share = weight / totals[stratum]  # of a label in the mean of its stratum

    # Each label's weight in the estimate, and what the fit takes away from its
    # residual: the mean of the stratum, and the prediction.
    label_weights = weight / size
    left = [in_stratum]
    right = [share[:, None] * in_stratum]
    if tuning is None:
        # The variance over samples of labels is a sum over labelled examples of weight
        # (weight - 1) residual².
        variation = np.maximum(weight * (weight - 1), 0.0)
        scale = np.sqrt(variation)
        inverse = np.linalg.pinv(
            columns * scale[:, None], rcond=np.finfo(float).eps * max(columns.shape)
        )
        tuning = inverse @ ((scores - mean_labels)[rows] * scale)
        spread = inverse @ inverse.T
        moments = variation[:, None] * columns
        moments -= share[:, None] * (in_stratum.T @ moments)[stratum]
        label_weights = label_weights + moments @ (spread @ centered.mean(axis=0))
        left.append(columns @ spread)
        right.append(moments)
    expected = mean_labels + centered @ tuning
    value = float(expected.mean())

    unit = np.unique(clusters[rows], return_inverse=True)[1]

    def sum_units(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(unit, column) for column in values.T], axis=1)

    of_units = np.bincount(unit, label_weights)
    fit = LinearEstimate(
        of_units,
        sum_units(label_weights[:, None] * np.hstack(left)),
        sum_units(np.hstack(right)),
    )
    factors, freedom = fit.correct_residuals()
    errors = label_weights * np.sqrt(factors)[unit] * (scores - expected)[rows]

    drawn = len(np.unique(clusters))
    addends = (
        np.zeros(size)
        if finite
        else (expected - value) * np.sqrt(drawn / (drawn - 1)) / size
    )
    addends[rows] += (
        errors * np.sqrt(1 - 1 / np.maximum(weight, 1)) if finite else errors
    )
    addends = np.bincount(clusters, addends)
    variance = float(np.sum(addends**2))
    standard_error = float(np.sqrt(variance))
    if finite and len(rows) == size:
        return PoweredMean(value, 0.0, (value, value))

    # Large clusters, few in the population, are often missing from those with labels:
    # what counts is how unequal all of them are.
    sizes = (
        np.unique(clusters, return_counts=True)[1]
        * len(rows)
        / np.isin(clusters, clusters[rows]).sum()
    )
    sizes = np.maximum(sizes, 1.0)  # labels of a cluster that has any
    freedom = min(
        freedom,
        units * float(np.sum(sizes**2)) ** 2 / (len(sizes) * float(np.sum(sizes**4))),
    )
    noun = "label" if units == len(rows) else "cluster"
    reason = _refuse_design(
        units, counts, totals, noun, fitted, freedom, weight
    ) or _refuse_labels(scores[rows], (scores - expected)[rows])
    if reason:
        return PoweredMean(value, standard_error, None, reason)
    skewness = float(np.sum(addends**3)) / variance**1.5
    return PoweredMean(
        value,
        standard_error,
        skewed_interval(value, standard_error, skewness, freedom, residuals=fitted > 0),
    )


def _refuse_design(
    units: int,
    counts: np.ndarray,
    totals: np.ndarray,
    noun: str,
    fitted: int,
    freedom: float,
    weights: np.ndarray,
) -> str:
    """Return why so few labels, or so unequal ones, have no interval;
    empty where they have one.

    ``units`` is the number of labels, or of clusters that have any, ``counts`` has
    those of the strata, ``totals`` the numbers of examples of these, ``fitted`` is the
    number of coefficients.
    """
    needed = max(FEWEST_LABELS, FEWEST_SPARE + len(counts) + fitted)
    if units < needed:
        return f"{counted(units, noun)}; an interval needs {needed}"
    unknown = float(totals[counts < FEWEST_IN_STRATUM].sum() / totals.sum())
    if len(counts) > 1 and unknown > SMALL_STRATA:
        few = (
            f"{unknown:.0%} of the examples are in strata with fewer than "
            f"{FEWEST_IN_STRATUM} {noun}s"
        )
        return f"{few}; an interval needs {SMALL_STRATA:.0%} at most"
    effect = len(weights) * float(np.sum(weights**2)) / float(np.sum(weights)) ** 2
    if freedom < FEWEST_FREEDOM * effect**2:
        return (
            f"few {noun}s decide the mean ({freedom:.1f} degrees of freedom; "
            f"an interval needs {FEWEST_FREEDOM * effect**2:.1f})"
        )
    return ""


def _refuse_labels(labels: np.ndarray, residuals: np.ndarray) -> str:
    """Return why labels without any error, or any spread, have no interval: what does
    not vary here may vary elsewhere.
    """
    spread = float(np.ptp(labels))
    if spread == 0:
        return f"all {len(labels)} labels are {labels[0]:g}"
    if np.sum(residuals**2) <= (SAME * spread) ** 2:
        return f"all {len(labels)} labels are as predicted"
    return ""
