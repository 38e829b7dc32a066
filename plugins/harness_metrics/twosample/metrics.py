"""Metrics ``mmdagg`` and ``c2st``: two-sample tests of the embeddings of an example's texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from harness.contracts import Batch, Cost, Features
from harness.contracts.parameters import Count, Ge, Index, check_arguments
from harness_metrics.bases.embedded import EmbeddingMetric, EmbeddingSpec
from harness_metrics.bases.relabeled import RelabeledMetric
from harness_metrics.kernel import geometry
from harness_metrics.twosample import classifier, mmdagg


class MmdAgg(EmbeddingMetric, RelabeledMetric):
    """Smallest permutation p-value of an example over MMDs with many kernels, in (0, 1]; higher is better.

    The score alone is not a p-value, because it is the smallest of many; the p-value of the metric is, by the permutation test of the
    smallest one.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    kernel : {'both', 'gaussian', 'laplace'}
        Kernels.
    bandwidths : int, default 10
        Number of widths of each kernel.
    seed : int, default 0
        Seed of the relabelings with which the MMD is compared, where there are too many to enumerate.

    Raises
    ------
    HarnessError
        For an unknown kernel, or numbers out of range.

    References
    ----------
    Schrab et al. 2023, *MMD Aggregated Two-Sample Test*. Formula: :mod:`harness_metrics.twosample.mmdagg`.
    """

    @check_arguments
    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", kernel: mmdagg.Shape = "both", bandwidths: Count = 10, seed: Index = 0
    ) -> None:
        self.kernel: mmdagg.Shape = kernel
        self.bandwidths, self.seed = bandwidths, seed
        super().__init__(
            "mmdagg", embedding, True, *([] if kernel == "both" else [kernel]), min_candidates=2, min_references=2,
            bounds=(0.0, 1.0), settings=(kernel, f"bandwidths:{bandwidths}", f"seed:{seed}"),
        )  # fmt: skip

    def cost(self, n: int, m: int, tokens: float, *, tested: bool = False) -> Cost:
        """Return the cost of the vectors, of the kernels, and of the relabelings with which they are compared, in blocks."""
        return replace(super().cost(n, m, tokens), fixed=min(17e3 * (n + m) ** 2, 3e8))

    def _kernels(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the kernels of each example, shape (B, K, N, N)."""
        inner = geometry.gram(features.vectors(self.embedding, batch.text_ids))
        return mmdagg.kernels(inner, self.kernel, self.bandwidths)

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the smallest p-value of each example under labels (P, N), shape (B, P)."""
        orbit = mmdagg.relabelings(batch.n, batch.m, self.seed)
        return mmdagg.smallest_p(self._kernels(batch, features), batch.n, labels, orbit)


class ClassifierTest(EmbeddingMetric, RelabeledMetric):
    """Leave-one-out accuracy with which a linear classifier tells an example's candidates from its references; lower is better.

    In [0, 1]; the mean of the accuracies on both samples. One half or less means that they are not told apart.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    ridge : float, default 1
        Penalty of the classifier, above 0, relative to the mean squared length of the centred vectors.

    Raises
    ------
    HarnessError
        For a ridge that is not above 0.

    References
    ----------
    Lopez-Paz & Oquab 2017, *Revisiting Classifier Two-Sample Tests*. Formula: :mod:`harness_metrics.twosample.classifier`.
    """

    @check_arguments
    def __init__(self, *, embedding: EmbeddingSpec = "minilm", ridge: Annotated[float, Ge(1e-6)] = 1.0) -> None:
        self.ridge = float(ridge)
        super().__init__("c2st", embedding, False, settings=[f"ridge:{ridge:g}"], min_texts=3, bounds=(0.0, 1.0))

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the accuracy of each example under labels (P, N), shape (B, P)."""
        inner = geometry.gram(features.vectors(self.embedding, batch.text_ids))
        return classifier.accuracy(classifier.smoother(inner, self.ridge), labels)
