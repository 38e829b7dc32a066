"""Metric ``production-variability``: does the model vary as people do,
over any distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import check_arguments
from harness_metrics.bases.metrics import (
    DistanceMetric,
    DistanceSpec,
    evaluate_labels,
    observed_labels,
)

# --------------------------------------------------------------------------- distributions of distances
# Distance between the variability of candidates and that of references, as
# distributions of pairwise distances.


Compare = Literal["within", "cross"]

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""


def wasserstein(
    distances: np.ndarray, labels: np.ndarray, compare: Compare = "within"
) -> np.ndarray:
    """Return the Wasserstein-1 distance between two distributions of pairwise
    distances, under labels.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances; a pair of texts has the mean of its two directions.
    labels : ndarray, shape (P, N)
        Bool, True for a candidate.
    compare : {'within', 'cross'}
        Pairs of candidates (``within``), or pairs of a candidate and a reference
        (``cross``), against pairs of references.

    Returns
    -------
    ndarray, shape (B, P)
        At least 0, in the unit of the distances.

    References
    ----------
    Giulianelli et al. 2023, *What Comes Next? Evaluating Uncertainty in Neural Text
    Generators Against Human Production Variability*, section 3.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 0.0, 3.0])
    >>> wasserstein(
    ...     abs(points[:, None] - points)[None], np.array([[True, True, False, False]])
    ... ).tolist()
    [[2.0]]
    """
    first, second = np.triu_indices(distances.shape[1], 1)
    pairs = 0.5 * (distances + distances.transpose(0, 2, 1))[:, first, second]

    def prepare(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        a, b = first[order], second[order]

        def distance(labels: np.ndarray) -> np.ndarray:
            left, right = labels[:, a], labels[:, b]
            model = left & right if compare == "within" else left != right
            human = ~(left | right)
            # In one dimension the Wasserstein-1 distance is the area between the two
            # distribution functions.
            difference = _cumulate(model) - _cumulate(human)
            return (np.abs(difference[:, :-1]) * gaps).sum(axis=1)

        return distance

    return evaluate_labels(pairs, labels, _LABELS, prepare)


def _cumulate(mask: np.ndarray) -> np.ndarray:
    """Return the distribution function of the marked pairs (P, pairs) at each pair,
    shape (P, pairs).
    """
    counts = np.cumsum(mask, axis=1, dtype=np.int32)
    return counts / counts[:, -1:]


def means(distances: np.ndarray, n: int) -> np.ndarray:
    """Return the mean distance of two candidates and that of two references, shape (B,
    2), with the n candidates first.
    """
    sides = [distances[:, :n, :n], distances[:, n:, n:]]
    return np.stack(
        [
            block.sum(axis=(1, 2)) / max(1, block.shape[1] * (block.shape[1] - 1))
            for block in sides
        ],
        axis=1,
    )


# --------------------------------------------------------------------------- metric


class ProductionVariability(DistanceMetric):
    """Difference between the variability of an example's candidates and that of its
    references; lower is better, at least 0.

    Wasserstein-1 distance between the distribution of distances of two candidates and
    that of two references. Its unit is that of the distance. ``details`` adds the mean
    variability of both sides and their difference, whose sign tells too much
    variability (positive) from too little.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: lexical (``bleu``), semantic (``bert``) or any other.
    compare : {'within', 'cross'}
        Pairs of candidates, or pairs of a candidate and a reference, against the pairs
        of references.

    Raises
    ------
    HarnessError
        For another ``compare``.

    References
    ----------
    Giulianelli et al. 2023, *What Comes Next? Evaluating Uncertainty in Neural Text
    Generators Against Human Production Variability*.
    """

    @check_arguments
    def __init__(
        self, *, distance: DistanceSpec = "bert", compare: Compare = "within"
    ) -> None:
        self.compare: Compare = compare
        super().__init__(
            "production-variability",
            distance,
            False,
            *(["cross"] if compare == "cross" else []),
            min_candidates=2 if compare == "within" else 1,
            min_references=2,
            bounds=(0.0, math.inf),
        )

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the distance, the mean distance of two candidates and that of two
        references, shape (B, 3).
        """
        labels = observed_labels(batch.n, batch.m)
        mean_distances = means(features.distances(self.distance, batch), batch.n)
        return np.concatenate(
            [self.null(batch, features, state, labels), mean_distances], axis=1
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the distance of each example under labels (P, N), shape (B, P)."""
        return wasserstein(
            features.distances(self.distance, batch), labels, self.compare
        )

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return the mean variability of candidates and of references, and their
        difference, from statistics (B, 3).
        """
        if not len(stats):
            return {}
        candidates, references = stats[:, 1:].mean(axis=0).tolist()
        return {
            "variability_candidates": candidates,
            "variability_references": references,
            "variability_difference": candidates - references,
        }
