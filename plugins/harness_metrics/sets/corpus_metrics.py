"""Metrics ``corpus-frechet`` and ``corpus-mmd``: distances between the embeddings of
all candidates and of all references.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from harness.contracts import (
    Batch,
    CorpusMetric,
    Features,
    Interval,
    Objects,
    weighted_sums,
)
from harness.contracts.parameters import Count, Index, Positive, check_arguments
from harness_metrics.bases.embedding_metric import EmbeddingMetric, EmbeddingSpec
from harness_metrics.kernel import frechet
from harness_metrics.sets import grouped_jackknife
from harness_metrics.sets.corpus_vectors import CorpusVectors
from harness_metrics.sets.random_features import (
    feature_sums,
    frequencies,
    median_distance,
    mmd_of_sums,
)


class CorpusFrechet(CorpusVectors):
    """Frechet distance between Gaussian fits to all candidates and to all references,
    as FID is for images; lower is better, at least 0.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.

    References
    ----------
    Heusel et al. 2017, *GANs Trained by a Two Time-Scale Update Rule Converge to a
    Local Nash Equilibrium* (FID); Semeniuta et al. 2018, *On Accurate Evaluation of
    GANs for Language Generation* (for texts).
    """

    def __init__(self, *, embedding: EmbeddingSpec = "minilm") -> None:
        super().__init__(
            "corpus-frechet",
            embedding,
            False,
            level="corpus",
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def value(self, candidates: np.ndarray, references: np.ndarray) -> float:
        """Return the distance of vectors (n, d) and (m, d)."""
        vectors = np.concatenate([candidates, references]).astype(np.float64)
        return float(frechet.of_vectors(vectors[None], len(candidates))[0])


class _Kernel(NamedTuple):
    """Random features of the Gaussian kernel."""

    frequencies: np.ndarray
    """Shape (d, D)."""


class CorpusMmd(EmbeddingMetric, CorpusMetric):
    """Squared maximum mean discrepancy between all candidates and all references, with
    a Gaussian kernel; lower is better, at least 0.

    The kernel is approximated by random Fourier features with a fixed seed, so that
    statistics are sums over texts. The width of the kernel is the median distance of
    the references of the task, or ``sigma``.

    Parameters
    ----------
    embedding : str, mapping or Embedding
        A registered embedding: name, ``{name: {parameters}}`` or instance.
    sigma : float, optional
        Width of the kernel, above 0.
    features : int, default 512
        Number of frequencies; the standard error of the kernel is 1 / sqrt(2 features)
        at most.
    seed : int, default 0
        Seed of the frequencies.

    Raises
    ------
    HarnessError
        For a parameter out of range.

    References
    ----------
    Gretton et al. 2012, *A Kernel Two-Sample Test*; Rahimi & Recht 2007, *Random
    Features for Large-Scale Kernel Machines*; Jayasumana et al. 2024, *Rethinking FID:
    Towards a Better Evaluation Metric for Image Generation* (MMD of corpora).
    """

    @check_arguments
    def __init__(
        self,
        *,
        embedding: EmbeddingSpec = "minilm",
        sigma: Positive | None = None,
        features: Count = 512,
        seed: Index = 0,
    ) -> None:
        self.sigma = None if sigma is None else float(sigma)
        self.features = features
        self.seed = seed

        width = "median" if self.sigma is None else f"{self.sigma:g}"
        super().__init__(
            "corpus-mmd",
            embedding,
            False,
            *([] if sigma is None else [f"sigma={width}"]),
            level="corpus",
            settings=(f"sigma:{width}", f"features:{features}", f"seed:{seed}"),
            bounds=(0.0, 4.0),
        )
        if self.sigma is None and not self.spec.held_fixed:
            self.spec = replace(self.spec, held_fixed="kernel width held fixed")

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> _Kernel:
        """Return the frequencies of the kernel for the references of the task."""
        texts = sorted({text for group in references for text in group})
        vectors = features.vectors(self.embedding, features.intern(texts))
        sigma = median_distance(vectors) if self.sigma is None else self.sigma
        return _Kernel(frequencies(vectors.shape[-1], self.features, sigma, self.seed))

    def collect(
        self, batch: Batch, features: Features, state: _Kernel
    ) -> Sequence[object]:
        """Return per example n, m, and the sums of the features of candidates and of
        references, shape (2 + 4 features,).
        """
        out = np.empty((len(batch), 2 + 4 * self.features))
        out[:, 0] = batch.n
        out[:, 1] = batch.m
        vectors = features.vectors(self.embedding, batch.text_ids)
        first, second = feature_sums(vectors, state.frequencies, batch.n)
        out[:, 2 : 2 + 2 * self.features] = first
        out[:, 2 + 2 * self.features :] = second
        return list(out)

    def number(self, objects: Objects) -> float:
        """Return the squared MMD."""
        return float(self.numbers(objects, np.ones((1, len(objects))))[0])

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the squared MMD (W,) for ``weights`` of shape (W, B)."""
        return _mmd(weighted_sums(weights, objects.values().reshape(len(objects), -1)))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the interval of the jackknife over groups of examples: a bootstrap
        adds to the bias of the squared MMD.
        """
        left_out = grouped_jackknife.without_groups(
            lambda rows: self.reduce(stats[rows]), len(stats), seed
        )
        return grouped_jackknife.interval_of(
            self.reduce(stats), left_out, self.spec.bounds
        )


def _mmd(sums: np.ndarray) -> np.ndarray:
    """Return the squared MMD (W,) of sums of n, m and the features of both sides,
    shape (W, 2 + 4 features).
    """
    first, second = np.split(sums[:, 2:], 2, axis=1)
    return mmd_of_sums(first, sums[:, 0], second, sums[:, 1])
