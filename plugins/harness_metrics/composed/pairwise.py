"""Metric ``pairwise``: any distance between candidates and references as a score."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import check_arguments
from harness.stats import forms
from harness_metrics.bases.distance_metric import DistanceMetric, DistanceSpec
from harness_metrics.bases.relabeled_metric import evaluate_labels

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""


class Pairwise(DistanceMetric):
    """Mean over candidates of the distance to the references of the example;
    lower is better.

    Range and unit are those of the distance.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance; the candidate
        is the hypothesis.
    aggregate : {'mean', 'best'}
        Mean over the references, or the nearest one.

    Raises
    ------
    HarnessError
        For another ``aggregate``.
    """

    @check_arguments
    def __init__(
        self,
        *,
        distance: DistanceSpec = "meteor",
        aggregate: Literal["mean", "best"] = "mean",
    ) -> None:
        self.aggregate = aggregate
        super().__init__(
            "pairwise",
            distance,
            False,
            *(["best"] if aggregate == "best" else []),
            level="item",
            bounds=(0.0, math.inf),
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the score of each example, shape (B,)."""
        block = features.distances(self.distance, batch)[:, : batch.n, batch.n :]
        nearest = block.mean(axis=2) if self.aggregate == "mean" else block.min(axis=2)
        return nearest.mean(axis=1)

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the score of each example under labels (P, N), shape (B, P)."""
        distances = features.distances(self.distance, batch)
        if self.aggregate == "mean":
            return forms.evaluate(distances / (batch.n * batch.m), labels)
        return evaluate_labels(distances, labels, _LABELS, _prepare_nearest)


def _prepare_nearest(distances: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from labels (p, N) to the mean over candidates of the distance
    to the nearest reference, shape (p,).
    """
    order = np.argsort(distances, axis=1, kind="stable")
    ranked = np.take_along_axis(distances, order, axis=1)

    def nearest(labels: np.ndarray) -> np.ndarray:
        # [p, candidate]: position of the nearest reference
        first = (~labels)[:, order].argmax(axis=2)
        values = ranked[np.arange(len(ranked)), first] * labels
        return values.sum(axis=1) / labels.sum(axis=1)

    return nearest
