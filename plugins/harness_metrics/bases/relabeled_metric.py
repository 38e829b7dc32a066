"""Bases of metrics whose score is their permutation null under the observed labels, and
the loop over blocks of relabelings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Batch, Cost, Features, MetricSpec
from harness.contracts.bases import MeanMetric

T = TypeVar("T")


def observed_labels(n: int, m: int) -> np.ndarray:
    """Return the labels of n candidates that come before m references, bool,
    shape (1, n + m).

    >>> observed_labels(2, 1).tolist()
    [[True, True, False]]
    """
    return (np.arange(n + m) < n)[None]


def evaluate_labels(
    examples: Sequence[T] | np.ndarray,
    labels: np.ndarray,
    step: int,
    prepare: Callable[[T], Callable[[np.ndarray], np.ndarray]],
) -> np.ndarray:
    """Return a statistic of B examples under relabelings, float64, shape (B, P).

    Parameters
    ----------
    examples : sequence, or ndarray of shape (B, ...)
        Data of each example, such as its matrix of distances.
    labels : ndarray, shape (P, N)
        Labels, True for a candidate.
    step : int
        Number of relabelings that are evaluated at once, so that temporary arrays stay
        in the cache.
    prepare : callable
        Does what does not depend on labels, once per example; returns a function from
        labels (p, N), bool, to values (p,).

    Examples
    --------
    >>> points = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> evaluate_labels(
    ...     points,
    ...     np.array([[True, False]]),
    ...     8,
    ...     lambda row: lambda labels: labels @ row,
    ... ).tolist()
    [[1.0], [3.0]]
    """
    labels = np.asarray(labels, dtype=bool)
    out = np.empty((len(examples), len(labels)))
    for row, example in enumerate(examples):
        statistic = prepare(example)
        for start in range(0, len(labels), step):
            out[row, start : start + step] = statistic(labels[start : start + step])
    return out


class RelabeledMetric(MeanMetric):
    """Mean of a statistic of two samples whose value under any labels is as easy to
    compute as the observed one.

    A subclass defines ``null``; the score of an example is the value under the observed
    labels, so that both cannot differ.
    """

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the statistic of each example, shape (B,)."""
        labels = observed_labels(batch.n, batch.m)
        return self.null(batch, features, state, labels)[:, 0]


class BestMatchMetric(RelabeledMetric):
    """Mean over candidates of the best pairwise score over references,
    with its permutation null.

    A subclass sets ``spec`` and defines ``signature()`` and :meth:`pairwise`. The best
    score is the largest, or the smallest where ``spec.higher_is_better`` is False.
    """

    spec: MetricSpec

    def pairwise(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the scores (B, N, N) of all pairs of a batch, rows the hypothesis;
        every subclass defines it.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define pairwise(batch, features)"
        )

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the scores of all pairs,
        by vectors of the words of each text.
        """
        cost = super().cost(n, m, tokens)
        texts = n + m
        return replace(
            cost,
            seconds=cost.seconds + 3e-4 * texts**2,
            bytes=cost.bytes + 64.0 * texts**2,
            fixed=2.5e5 * texts,
        )

    def null(
        self, batch: Batch, features: Features, state: Any, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        # the kernel takes the largest score over references
        sign = 1.0 if self.spec.higher_is_better else -1.0
        matrix = np.asarray(self.pairwise(batch, features), dtype=np.float64)
        return sign * ngram.relabel_best(sign * matrix, labels)
