"""Cosine distance of text embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features, fitted_fields
from harness_metrics.kernel import geometry


class CosineDistance:
    """1 - cosine of the embeddings of two texts, in [0, 2]; symmetric;
    exactly 0 for identical texts.

    Registered as ``bert``. A zero vector has distance 1 from all other texts.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.

    References
    ----------
    Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language
    Generation*, A.4.
    """

    needs = frozenset({"embeddings"})

    def __init__(
        self, *, embedding: str | Mapping[str, Any] | Embedding = "minilm"
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.name = "bert"
        if self.embedding.name != "minilm":
            self.name = f"cosine-{self.embedding.name}"
        vars(self).update(fitted_fields(self.embedding))

    def signature(self) -> str:
        """Return ``cosine|`` and the signature of the embedding."""
        return f"cosine|{self.embedding.signature()}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances of all pairs, float64, shape (B, N, N); values below 0
        by rounding are set to 0.
        """
        vectors = features.set_vectors(self.embedding, batch.text_ids)
        distances = np.maximum(1.0 - geometry.cosines(vectors), 0.0)

        upper = np.triu(distances, 1)
        distances = upper + upper.transpose(0, 2, 1)  # exactly symmetric
        distances[batch.text_ids[:, :, None] == batch.text_ids[:, None, :]] = 0.0
        return distances
