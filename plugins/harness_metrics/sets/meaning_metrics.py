"""Metrics ``semantic-entropy`` and ``reference-coverage``:
texts grouped by meaning, over any distance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import NonNegative, check_arguments
from harness_metrics.bases.distance_metric import DistanceMetric, DistanceSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric
from harness_metrics.sets.meanings import components, entropy, measure_coverage

THRESHOLD = 0.3
"""Largest distance of two captions of one meaning, for the default distance,
1 - cosine of MiniLM.
"""


class SemanticEntropy(DistanceMetric):
    """Entropy of the meanings of an example's candidates, in nats, in [0, log n];
    it has no direction.

    Candidates within the threshold of each other, in both directions, have one meaning,
    and so have all that such candidates link.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    threshold : float, default 0.3
        Largest distance of two texts of one meaning; the default suits the default
        distance.

    Raises
    ------
    HarnessError
        For a negative threshold.

    References
    ----------
    Farquhar et al. 2024, *Detecting hallucinations in large language models using
    semantic entropy* (the discrete estimate); Kuhn et al. 2023, *Semantic Uncertainty*.
    Both decide equality of meaning by entailment in both directions.
    """

    @check_arguments
    def __init__(
        self, *, distance: DistanceSpec = "bert", threshold: NonNegative = THRESHOLD
    ) -> None:
        self.threshold = float(threshold)
        super().__init__(
            "semantic-entropy",
            distance,
            None,
            f"{self.threshold:g}",
            references=False,
            bounds=(0.0, math.inf),
        )

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the entropy of each example, shape (B,)."""
        distances = features.distances(self.distance, batch)[:, : batch.n, : batch.n]
        return entropy(components(distances, self.threshold))


class ReferenceCoverage(RelabeledMetric, DistanceMetric):
    """Share of an example's references whose meaning some candidate has, in [0,
    1]; higher is better.

    The references are a sample of what people say, so that this is the part of the
    human distribution that the set reaches. Meanings are those of
    :class:`SemanticEntropy`, of candidates and references together; they do not depend
    on the labels of the texts.

    Parameters
    ----------
    distance : str, mapping or Distance
        A registered distance: name, ``{name: {parameters}}`` or instance.
    threshold : float, default 0.3
        Largest distance of two texts of one meaning; the default suits the default
        distance.

    Raises
    ------
    HarnessError
        For a negative threshold.
    """

    @check_arguments
    def __init__(
        self, *, distance: DistanceSpec = "bert", threshold: NonNegative = THRESHOLD
    ) -> None:
        self.threshold = float(threshold)
        super().__init__(
            "reference-coverage",
            distance,
            True,
            f"{self.threshold:g}",
            bounds=(0.0, 1.0),
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the share of each example under labels (P, N), shape (B, P)."""
        return measure_coverage(
            components(features.distances(self.distance, batch), self.threshold), labels
        )
