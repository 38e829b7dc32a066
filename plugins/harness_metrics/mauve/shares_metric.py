"""Metrics ``mauve-knn`` and ``mauve-kde``: MAUVE within each example by local density
estimates, with p-values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Features
from harness.contracts.parameters import Count, Positive, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled_metric import RelabeledMetric
from harness_metrics.kernel import geometry, mmd
from harness_metrics.mauve import frontier
from harness_metrics.mauve.densities import area, neighbour_weights


class _Local(EmbeddingMetric, RelabeledMetric):
    """Base of both metrics; a subclass defines ``_weights``."""

    def __init__(
        self, name: str, embedding: EmbeddingSpec, scaling: Positive, *options: str
    ) -> None:
        self.scaling = float(scaling)
        settings = (*options, f"c:{self.scaling:g}")
        super().__init__(
            name, embedding, True, *options, settings=settings, bounds=(0.0, 1.0)
        )

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        """Return the weights of all texts to each text, shape (B, N, N),
        for Gram matrices (B, N, N).
        """
        raise NotImplementedError

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return MAUVE of each example under labels (P, N), shape (B, P)."""
        inner = geometry.gram(features.set_vectors(self.embedding, batch.text_ids))
        return area(self._weights(inner), labels, self.scaling)


class MauveNeighbours(_Local):
    """MAUVE within each example, densities by the k nearest texts; higher is better,
    in (0, 1]. Has p-values.

    An example with at most k + 1 texts is undefined: all of its texts are neighbours of
    each other.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    k : int, default 4
        Number of neighbours.
    scaling : float
        The constant c of the paper.

    Raises
    ------
    HarnessError
        For a parameter out of range.

    References
    ----------
    Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
    section 4.2. Formula: :mod:`harness_metrics.mauve.shares_metric`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        k: Count = 4,
        scaling: Positive = frontier.SCALING,
    ) -> None:
        self.k = k
        super().__init__(
            "mauve-knn", embedding, scaling, *([f"k={k}"] if k != 4 else [])
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return MAUVE as the base does; NaN for an example whose N texts are all
        neighbours of each other, N - 1 <= k.
        """
        if labels.shape[1] - 1 <= self.k:
            # Every weight is 1: both samples have the same density everywhere, whatever
            # the texts.
            return np.full((batch.text_ids.shape[0], len(labels)), np.nan)
        return super().null(batch, features, state, labels)

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        return neighbour_weights(geometry.squared_distances(inner), self.k)


class MauveKernel(_Local):
    """MAUVE within each example, densities by a Gaussian kernel; higher is better,
    in (0, 1]. Has p-values.

    The width of the kernel is half the median distance of the texts of an example, as
    for ``mmd``.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    scaling : float
        The constant c of the paper.

    Raises
    ------
    HarnessError
        For a scaling that is not above 0.

    References
    ----------
    Pillutla et al. 2023, *MAUVE Scores for Generative Models: Theory and Practice*,
    section 4.2. Formula: :mod:`harness_metrics.mauve.shares_metric`.
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        scaling: Positive = frontier.SCALING,
    ) -> None:
        super().__init__("mauve-kde", embedding, scaling)

    def _weights(self, inner: np.ndarray) -> np.ndarray:
        return mmd.mmd_kernel(inner)
