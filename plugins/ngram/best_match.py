"""Base class of metrics that score a candidate by its best single reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from caption_kernels import ngram
from harness.contracts import Batch, Features, MeanMetric, MetricSpec


class BestMatchMetric(MeanMetric):
    """Mean over candidates of the best pairwise score over references, with its permutation null.

    A subclass sets ``spec`` and defines ``signature()`` and :meth:`pairwise`. The best score is the largest, or the smallest
    where ``spec.higher_is_better`` is False.
    """

    spec: MetricSpec

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs of a batch, rows the hypothesis; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define pairwise(batch, features)")

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Any:
        """Return None: pairwise scores have no corpus state."""
        return None

    def _oriented(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the pairwise scores (B, N, N), negated where lower is better."""
        matrix = np.asarray(self.pairwise(batch, features), dtype=np.float64)
        return matrix if self.spec.higher_is_better else -matrix

    def _sign(self) -> float:
        return 1.0 if self.spec.higher_is_better else -1.0

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean over candidates of the best score over references, shape (B,)."""
        labels = np.zeros((1, batch.n + batch.m), dtype=bool)
        labels[0, : batch.n] = True
        return self.null(batch, features, state, labels)[:, 0]

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N), True = candidate."""
        return self._sign() * ngram.relabel_best(self._oriented(batch, features), labels)
