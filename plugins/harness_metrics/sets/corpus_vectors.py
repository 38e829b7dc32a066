"""Base class of the corpus metrics that pool the embeddings of all candidates and of
all references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, Objects
from harness_metrics.bases.embedding_metric import EmbeddingMetric
from harness_metrics.sets.grouped_jackknife import Jackknifed


def collect_vectors(vectors: np.ndarray, n: int) -> list[dict[str, np.ndarray]]:
    """Return per example the ``n`` first vectors of its texts as candidates, and the
    others as references, from vectors (B, N, d).
    """
    return [{"candidates": rows[:n], "references": rows[n:]} for rows in vectors]


def drop_unused_dimensions(*samples: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the samples (n, d), (m, d), ... without the dimensions in which all
    vectors are 0, as most counts of words are.

    Distances and inner products stay; matrices of d x d numbers get smaller.

    >>> first = np.array([[0.0, 1.0]])
    >>> second = np.array([[0.0, 2.0], [0.0, 0.0]])
    >>> [sample.tolist() for sample in drop_unused_dimensions(first, second)]
    [[[1.0]], [[2.0], [0.0]]]
    """
    used = np.any([sample.any(axis=0) for sample in samples], axis=0)
    if used.all():
        return samples
    used[0] |= not used.any()  # vectors keep a dimension
    return tuple(sample[:, used] for sample in samples)


class CorpusVectors(EmbeddingMetric, Jackknifed):
    """Base of metrics of the vectors of all texts; a subclass defines :meth:`value`,
    with ``level="corpus", resampled=False``.

    There is no score per example. Resampled examples would be copies of each other: the
    interval is a jackknife over groups of examples.
    """

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the number of vectors (n, d) and (m, d);
        NaN where it is not defined.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define value(candidates, references)"
        )

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the vectors of each example: float32 arrays of candidates (n, d) and,
        where the metric reads them, references (m, d).
        """
        ids = batch.text_ids if "references" in self.spec.needs else batch.candidate_ids
        return collect_vectors(features.vectors(self.embedding, ids), batch.n)

    def number(self, objects: Objects) -> float:
        """Return the number of all vectors."""
        candidates, references = drop_unused_dimensions(
            objects.values("candidates"), objects.values("references")
        )
        return self.value(candidates, references)
