"""Interval of a mean score within declared bounds from labels alone, valid at every
number of labels and every skew.
"""

from __future__ import annotations

import numpy as np

from harness.decisions.statistics.bounded_mean import BoundedMean, betting_interval
from harness.decisions.statistics.sample_size import LEVEL
from harness.stats.anytime import betting_looks

UNEQUAL = "labels of unequal probabilities have no interval within bounds"
"""Reason of labels that are no simple random sample, and not one of each stratum."""
CLUSTERED_STRATA = "strata of clusters have no interval within bounds"
"""Reason of labels of whole clusters of each stratum."""


def bounded_labels_interval(
    labels: np.ndarray,
    low: float,
    high: float,
    *,
    probabilities: np.ndarray | None = None,
    strata: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
    finite: bool = False,
) -> tuple[tuple[float, float] | None, str]:
    """Return the interval of the mean score, and why there is none.

    A simple random sample of a population has the betting interval of
    :mod:`harness.decisions.statistics.bounded_mean`, whole clusters of it that of their
    sums. One of these N examples alone has the betting sequence for draws without
    replacement, which ends where the examples without labels can no longer move the
    mean. A label of a stratum counts with its weight N_s n / (N n_s), so that the mean
    of weighted labels has the right expectation and their bounds are 0 and the largest
    weight: the proof for independent labels does not cover draws from strata, whose
    mean varies less; the coverage is measured (docs/estimate.md).

    Parameters
    ----------
    labels : ndarray
        Scores, shape (N,), NaN where an example has no label.
    low, high : float
        Smallest and largest possible score.
    probabilities, strata, clusters : ndarray, optional
        As in :func:`~harness.decisions.statistics.prediction_powered.powered_mean`.
    finite : bool
        The mean is that over these N examples.
    """
    rows = np.flatnonzero(~np.isnan(labels))
    scores = labels[rows]
    if strata is not None and len(np.unique(strata)) > 1:
        if clusters is not None:
            return None, CLUSTERED_STRATA
        totals = np.bincount(strata)
        drawn = np.bincount(strata[rows], minlength=len(totals))
        weights = (totals / drawn)[strata[rows]] * len(rows) / len(labels)
        return _weighted_interval((scores - low) / (high - low), weights, low, high), ""
    if probabilities is not None and np.ptp(probabilities[rows]) > 0:
        return None, UNEQUAL

    if clusters is None:
        unit = np.arange(len(rows))
    else:
        unit = np.unique(clusters[rows], return_inverse=True)[1]
    sums = np.bincount(unit, scores)
    sizes = np.bincount(unit).astype(np.float64)
    if not finite:
        return betting_interval(sums, low, high, sizes=sizes), ""

    middle = (low + high) / 2
    bound = (high - low) / 2
    # The order of a file may follow the scores.
    order = np.random.default_rng(0).permutation(len(sums))
    of_clusters = sizes if clusters is None else np.bincount(clusters)
    look = betting_looks(
        (sums - middle * sizes)[order],
        sizes[order],
        bound,
        [len(sums)],
        population=len(labels),
        largest=float(of_clusters.max()),
    )[0]
    return (look.low + middle, look.high + middle), ""


def _weighted_interval(
    shares: np.ndarray, weights: np.ndarray, low: float, high: float
) -> tuple[float, float]:
    """Return the interval of a mean of labels, given as shares of the range,
    whose weights have the mean 1.
    """
    largest = float(weights.max())
    ends = [
        BoundedMean.of_values(weights * side, 0.0, largest, level=LEVEL / 2).lower()
        for side in (shares, 1 - shares)
    ]
    return low + (high - low) * ends[0], high - (high - low) * ends[1]
