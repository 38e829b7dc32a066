"""Prediction-powered inference: the mean of scores that few examples have, with the
help of predictions that all have.

With labels Y of n of N examples, drawn with known probabilities, and predictions f of
all N, the estimate within a stratum of examples is

    mean over its N examples of lambda f
    + weighted mean over its labels of (Y - lambda f),

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
from functools import cached_property

import numpy as np

from harness.decisions.statistics.leverage import LinearEstimate
from harness.decisions.statistics.skewed_interval import skewed_interval
from harness.errors import counted

FEWEST_LABELS = 20
"""Number of labels, or of clusters that have any, below which there is no interval:
that of skewed scores would miss too often.
"""
FEWEST_SPARE = 18
"""Number of them, without those of strata and coefficients, below which there is no
interval.
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
    """Reason why there is no interval; empty where there is one."""


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
        (:func:`~harness.decisions.statistics.skewed_interval.skewed_interval`); the
        degrees of freedom are those of the weights of the labels. It is None below the
        numbers of labels and degrees of freedom that this module states, none of which
        looks at the labels, and for equal labels. The standard error is NaN where a
        stratum has fewer than two labels, or the labels, or the clusters that have any,
        are not more than strata and coefficients together.

    Examples
    --------
    >>> labels = np.array([1.0, 2.0, 4.0, np.nan])
    >>> predictions = np.array([[1.0], [2.0], [3.0], [6.0]])
    >>> mean = powered_mean(labels, predictions, tuning=np.ones(1))
    >>> round(mean.value, 4)  # 3 for the mean prediction, 1 / 3 for the mean error
    3.3333
    >>> mean.ci95, mean.reason
    (None, '3 labels; an interval needs 20')
    """
    sample = _Sample(labels, probabilities, strata, clusters)
    fitted = predictions.shape[1] if tuning is None else 0
    if sample.counts.min() < 2 or sample.units - len(sample.totals) - fitted < 1:
        label_count = counted(sample.units, "label")
        reason = f"{label_count} for {counted(len(sample.totals), 'stratum')}"
        return PoweredMean(float(np.nanmean(labels)), np.nan, None, reason)

    fit = _fit_predictions(sample, predictions, tuning)
    if finite and len(sample.rows) == len(labels):
        value = float(fit.expected.mean())
        return PoweredMean(value, 0.0, (value, value))
    return _add_interval(sample, fit, fitted, finite)


class _Sample:
    """Labels of some of N examples, with the weights that the draw gives them.

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    probabilities, strata, clusters : ndarray, optional
        As in :func:`powered_mean`.
    """

    def __init__(
        self,
        labels: np.ndarray,
        probabilities: np.ndarray | None,
        strata: np.ndarray | None,
        clusters: np.ndarray | None,
    ) -> None:
        size = len(labels)
        self.labelled = ~np.isnan(labels)
        self.rows = np.flatnonzero(self.labelled)
        """Positions of the n examples with a label, shape (n,)."""
        self.scores = np.where(self.labelled, labels, 0.0)
        self.strata = np.zeros(size, dtype=np.int64) if strata is None else strata
        self.clusters = np.arange(size) if clusters is None else clusters
        self.totals = np.bincount(self.strata)
        """Number of examples of each stratum, shape (S,)."""
        self._probabilities = probabilities

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of clusters with labels in each stratum, shape (S,)."""
        labelled = np.stack([self.strata, self.clusters])[:, self.labelled]
        pairs = np.unique(labelled, axis=1)
        return np.bincount(pairs[0], minlength=len(self.totals))

    @cached_property
    def units(self) -> int:
        """Number of clusters with labels."""
        return len(np.unique(self.clusters[self.labelled]))

    @cached_property
    def weights(self) -> np.ndarray:
        """Number of examples that a labelled one stands for, shape (N,); 0 for one
        without a label.
        """
        inverse = 1.0 if self._probabilities is None else 1 / self._probabilities
        weights = np.where(self.labelled, inverse, 0.0)
        weights *= (self.totals / np.bincount(self.strata, weights))[self.strata]
        return weights

    def stratum_means(self, values: np.ndarray) -> np.ndarray:
        """Return the weighted mean in the stratum of each example, shape (N,)."""
        sums = np.bincount(self.strata, self.weights * values)
        return (sums / self.totals)[self.strata]


@dataclass(frozen=True, eq=False)
class _Fit:
    """Expected labels, and the estimate as a sum over labels."""

    expected: np.ndarray
    """Label that stratum and predictions let expect, shape (N,)."""
    label_weights: np.ndarray
    """Weight of each label in the estimate, shape (n,)."""
    left: np.ndarray
    right: np.ndarray
    """Part of the residual of each label that the fit takes away, shapes (n, k): the
    mean of its stratum, and the prediction
    (:class:`~harness.decisions.statistics.leverage.LinearEstimate`).
    """


def _fit_predictions(
    sample: _Sample, predictions: np.ndarray, tuning: np.ndarray | None
) -> _Fit:
    """Return the fit of the labels to predictions (N, p), with coefficients (p,) or
    with those of smallest variance.
    """
    mean_labels = sample.stratum_means(sample.scores)
    centered = np.stack(
        [column - sample.stratum_means(column) for column in predictions.T], axis=1
    )
    weight = sample.weights[sample.rows]
    stratum = sample.strata[sample.rows]
    columns = centered[sample.rows]
    in_stratum = np.eye(len(sample.totals))[stratum]
    # Of a label in the mean of its stratum.
    share = weight / sample.totals[stratum]

    label_weights = weight / len(sample.labelled)
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
        tuning = inverse @ ((sample.scores - mean_labels)[sample.rows] * scale)

        # The coefficients depend on the labels, and so does the prediction of each.
        spread = inverse @ inverse.T
        moments = variation[:, None] * columns
        moments -= share[:, None] * (in_stratum.T @ moments)[stratum]
        label_weights = label_weights + moments @ (spread @ centered.mean(axis=0))
        left.append(columns @ spread)
        right.append(moments)
    expected = mean_labels + centered @ tuning
    return _Fit(expected, label_weights, np.hstack(left), np.hstack(right))


def _add_interval(sample: _Sample, fit: _Fit, fitted: int, finite: bool) -> PoweredMean:
    """Return the estimate with its interval, or with the reason why it has none;
    ``fitted`` is the number of coefficients that were fitted.
    """
    rows = sample.rows
    value = float(fit.expected.mean())
    residuals = (sample.scores - fit.expected)[rows]
    weight = sample.weights[rows]

    factors, freedom = _correct_residuals(sample, fit)
    errors = fit.label_weights * np.sqrt(factors) * residuals
    addends = _sum_errors(sample, fit.expected - value, errors, finite)
    variance = float(np.sum(addends**2))
    standard_error = float(np.sqrt(variance))

    freedom = min(freedom, _freedom_of_clusters(sample))
    noun = "label" if sample.units == len(rows) else "cluster"
    reason = _refuse_design(
        sample.units, sample.counts, sample.totals, noun, fitted, freedom, weight
    )
    reason = reason or _refuse_labels(sample.scores[rows], residuals)
    if reason:
        return PoweredMean(value, standard_error, None, reason)

    skewness = float(np.sum(addends**3)) / variance**1.5
    ci95 = skewed_interval(
        value, standard_error, skewness, freedom, residuals=fitted > 0
    )
    return PoweredMean(value, standard_error, ci95)


def _correct_residuals(sample: _Sample, fit: _Fit) -> tuple[np.ndarray, float]:
    """Return the factor of the squared residual of each label, shape (n,), and the
    degrees of freedom; labels of one cluster are one unit.
    """
    unit = np.unique(sample.clusters[sample.rows], return_inverse=True)[1]

    def sum_units(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(unit, column) for column in values.T], axis=1)

    estimate = LinearEstimate(
        np.bincount(unit, fit.label_weights),
        sum_units(fit.label_weights[:, None] * fit.left),
        sum_units(fit.right),
    )
    factors, freedom = estimate.correct_residuals()
    return factors[unit], freedom


def _sum_errors(
    sample: _Sample, deviations: np.ndarray, errors: np.ndarray, finite: bool
) -> np.ndarray:
    """Return what each cluster adds to the error of the estimate, from the deviations
    (N,) of the expected labels from their mean and the errors (n,) of the labels.
    """
    size = len(deviations)
    if finite:
        # Only the labels are drawn, and without replacement.
        weight = sample.weights[sample.rows]
        addends = np.zeros(size)
        addends[sample.rows] += errors * np.sqrt(1 - 1 / np.maximum(weight, 1))
    else:
        drawn = len(np.unique(sample.clusters))
        addends = deviations * np.sqrt(drawn / (drawn - 1)) / size
        addends[sample.rows] += errors
    return np.bincount(sample.clusters, addends)


def _freedom_of_clusters(sample: _Sample) -> float:
    """Return the degrees of freedom that clusters of unequal sizes leave.

    Large clusters, few in the population, are often missing from those with labels:
    what counts is how unequal all of them are.
    """
    rows = sample.rows
    examples = np.unique(sample.clusters, return_counts=True)[1]
    near_labels = np.isin(sample.clusters, sample.clusters[rows]).sum()
    # Labels of a cluster that has any.
    sizes = np.maximum(examples * len(rows) / near_labels, 1.0)
    squares = float(np.sum(sizes**2))
    return sample.units * squares**2 / (len(sizes) * float(np.sum(sizes**4)))


def _refuse_design(
    units: int,
    counts: np.ndarray,
    totals: np.ndarray,
    noun: str,
    fitted: int,
    freedom: float,
    weights: np.ndarray,
) -> str:
    """Return why so few labels, or so unequal ones, have no interval; empty where they
    have one.

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
