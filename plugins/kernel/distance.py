"""A distance from any embedding: 1 - cosine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features


class CosineDistance:
    """1 - cosine of two texts' embeddings, in [0, 2]; symmetric; exactly 0 for identical texts.

    ``bert`` in the registry: all-MiniLM-L6-v2 (Chan et al. 2022, A.4). A vector of length 0 is at distance 1 from all others.
    """

    needs = frozenset({"embeddings"})

    def __init__(self, *, embedding: str | Mapping[str, Any] | Embedding = "minilm") -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.name = "bert" if self.embedding.name == "minilm" else f"cosine-{self.embedding.name}"

    def signature(self) -> str:
        return f"cosine|{self.embedding.signature()}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """(B, N, N), float64; rounding below 0 is clipped."""
        vectors = features.vectors(self.embedding, batch.text_ids).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1.0)
        distances = np.maximum(1.0 - np.matmul(vectors, vectors.transpose(0, 2, 1)), 0.0)
        upper = np.triu(distances, 1)
        distances = upper + upper.transpose(0, 2, 1)  # exactly symmetric
        distances[batch.text_ids[:, :, None] == batch.text_ids[:, None, :]] = 0.0
        return distances
