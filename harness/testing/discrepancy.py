"""Maximum mean discrepancy of a component under check, which may be an embedding or a
distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import (
    Batch,
    Distance,
    Embedding,
    Features,
    MeanMetric,
    MetricSpec,
    fitted_fields,
)


class Discrepancy(MeanMetric):
    """Squared maximum mean discrepancy of the texts of an example by an embedding or a
    distance, biased.

    The Gaussian kernel has half the median distance as its width; where that is 0, it
    is 1 for equal texts and 0 for others.
    """

    def __init__(self, component: Embedding | Distance) -> None:
        self.component = component
        self.spec = MetricSpec(
            f"discrepancy({component.name})", False, "set", **fitted_fields(component)
        )

    def signature(self) -> str:
        """Return the name and the signature of the embedding or distance."""
        return f"discrepancy|{self.component.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the discrepancy of each example, shape (B,)."""
        labels = np.arange(batch.n + batch.m) < batch.n
        return self.null(batch, features, state, labels[None])[:, 0]

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the discrepancy under labels (P, N), shape (B, P)."""
        distances = self._distances(batch, features)
        pairs = distances[:, *np.triu_indices(distances.shape[1], 1)]
        width = (np.median(pairs, axis=1) / 2)[:, None, None]

        # a width of 0 divides, and its kernel is 1 for equal texts alone
        with np.errstate(divide="ignore", invalid="ignore"):
            kernels = np.where(
                distances == 0, 1.0, np.exp(-0.5 * (distances / width) ** 2)
            )

        n = labels.sum(axis=1, keepdims=True)
        m = (~labels).sum(axis=1, keepdims=True)
        signed = labels / n - ~labels / m

        # mean k(c, c') + mean k(r, r') - 2 mean k(c, r) is the quadratic form of the
        # signed weights 1/n and -1/m.
        return np.einsum("pi,bij,pj->bp", signed, kernels, signed)

    def _distances(self, batch: Batch, features: Features) -> np.ndarray:
        """Return distances of all pairs, symmetric, shape (B, N, N)."""
        if isinstance(self.component, Distance):
            distances = features.distances(self.component, batch)
            return (distances + distances.transpose(0, 2, 1)) / 2

        vectors = features.set_vectors(self.component, batch.text_ids)
        vectors = vectors.astype(np.float64)
        squares = np.einsum("bid,bid->bi", vectors, vectors)
        products = vectors @ vectors.transpose(0, 2, 1)
        squared = squares[:, :, None] + squares[:, None, :] - 2 * products
        # rounding may leave the square of a distance below 0
        return np.sqrt(np.maximum(squared, 0.0))
