"""Base class of metrics that score a candidate by its best single reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Batch, Features, MetricSpec
from harness_metrics.bases.relabeled import RelabeledMetric


class BestMatchMetric(RelabeledMetric):
    """Mean over candidates of the best pairwise score over references, with its permutation null.

    A subclass sets ``spec`` and defines ``signature()`` and :meth:`pairwise`. The best score is the largest, or the smallest
    where ``spec.higher_is_better`` is False.
    """

    spec: MetricSpec

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs of a batch, rows the hypothesis; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define pairwise(batch, features)")

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N), True = candidate."""
        sign = 1.0 if self.spec.higher_is_better else -1.0  # the kernel takes the largest score over references
        matrix = np.asarray(self.pairwise(batch, features), dtype=np.float64)
        return sign * ngram.relabel_best(sign * matrix, labels)
