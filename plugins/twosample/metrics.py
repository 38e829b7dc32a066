"""Metrics ``mmdagg`` and ``c2st``: two-sample tests of the embeddings of an example's texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import registry
from harness.contracts import Batch, Embedding, Features, MeanMetric, MetricSpec
from harness.plugins.kernel import geometry
from harness.plugins.sets.checks import check_choice, check_count, check_number
from harness.plugins.sets.corpus_vectors import EmbeddingSpec
from harness.plugins.twosample import classifier, mmdagg


class MmdAgg(MeanMetric):
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
    Schrab et al. 2023, *MMD Aggregated Two-Sample Test*. Formula: :mod:`harness.plugins.twosample.mmdagg`.
    """

    def __init__(
        self, *, embedding: EmbeddingSpec = "minilm", kernel: str = "both", bandwidths: int = 10, seed: int = 0
    ) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.kernel: mmdagg.Shape = check_choice(kernel, "mmdagg", "kernel", mmdagg.SHAPES)  # type: ignore[assignment]
        self.bandwidths = check_count(bandwidths, "mmdagg", "bandwidths")
        self.seed = check_count(seed, "mmdagg", "seed", least=0)
        needs = frozenset({"references", "embeddings"}) | frozenset(getattr(self.embedding, "needs", ()))
        options = "" if kernel == "both" else f", {kernel}"
        self.spec = MetricSpec(
            f"mmdagg({self.embedding.name}{options})", True, "set", needs, min_candidates=2, min_references=2,
            bounds=(0.0, 1.0),
        )  # fmt: skip

    def signature(self) -> str:
        """Return a text such as ``mmdagg|both|bandwidths:10|seed:0|minilm``."""
        return f"mmdagg|{self.kernel}|bandwidths:{self.bandwidths}|seed:{self.seed}|{self.embedding.signature()}"

    def _kernels(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the kernels of each example, shape (B, K, N, N)."""
        inner = geometry.gram(features.vectors(self.embedding, batch.text_ids))
        return mmdagg.kernels(inner, self.kernel, self.bandwidths)

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the smallest p-value of each example, shape (B,)."""
        return self.null(batch, features, state, (np.arange(batch.n + batch.m) < batch.n)[None])[:, 0]

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the smallest p-value of each example under labels (P, N), shape (B, P)."""
        orbit = mmdagg.relabelings(batch.n, batch.m, self.seed)
        return mmdagg.smallest_p(self._kernels(batch, features), batch.n, labels, orbit)


class ClassifierTest(MeanMetric):
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
    Lopez-Paz & Oquab 2017, *Revisiting Classifier Two-Sample Tests*. Formula: :mod:`harness.plugins.twosample.classifier`.
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm", ridge: float = 1.0) -> None:
        self.embedding: Embedding = registry.resolve("embeddings", embedding)
        self.ridge = check_number(ridge, "c2st", "ridge", least=1e-6)
        needs = frozenset({"references", "embeddings"}) | frozenset(getattr(self.embedding, "needs", ()))
        self.spec = MetricSpec(f"c2st({self.embedding.name})", False, "set", needs, min_texts=3, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return a text such as ``c2st|ridge:1|minilm``."""
        return f"c2st|ridge:{self.ridge:g}|{self.embedding.signature()}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the accuracy of each example, shape (B,)."""
        return self.null(batch, features, state, (np.arange(batch.n + batch.m) < batch.n)[None])[:, 0]

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """Return the accuracy of each example under labels (P, N), shape (B, P)."""
        inner = geometry.gram(features.vectors(self.embedding, batch.text_ids))
        return classifier.accuracy(classifier.smoother(inner, self.ridge), labels)
