"""Metric ``production-variability``: does the model vary as people do,
over any distance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import check_arguments
from harness_metrics.bases.distance_metric import DistanceMetric, DistanceSpec
from harness_metrics.bases.relabeled_metric import observed_labels
from harness_metrics.sets.variability import Compare, means, wasserstein


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
