"""Metrics ``corpus-frechet`` and ``corpus-mmd``: distances between the embeddings of
all candidates and of all references.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from caption_kernels import sin
from harness.contracts import (
    Batch,
    CorpusMetric,
    Features,
    Interval,
    Objects,
    weighted_sums,
)
from harness.contracts.parameters import Count, Index, Positive, check_arguments
from harness_metrics.bases.metrics import EmbeddingMetric, EmbeddingSpec
from harness_metrics.kernel import frechet, geometry
from harness_metrics.sets import grouped_jackknife
from harness_metrics.sets.corpus_vectors import CorpusVectors

# --------------------------------------------------------------------------- random features
# Maximum mean discrepancy of corpora by random Fourier features, whose statistics are
# sums over texts.


SAMPLE = 2000
"""Largest number of references whose median distance is the width of the kernel."""
_PRODUCT = 250_000
"""Multiplications of one matrix product, below the number from which BLAS divides it
among threads, which costs more than it saves.
"""
_EXAMPLES = 64
"""Examples whose features are in memory at a time."""
_LARGEST_PHASE = 1e6
"""Largest phase of which the sine is taken as it is."""


def frequencies(width: int, number: int, sigma: float, seed: int) -> np.ndarray:
    """Return ``number`` frequencies of the Gaussian kernel of width ``sigma`` in
    ``width`` = d dimensions, shape (d, number).

    References
    ----------
    Rahimi & Recht 2007, *Random Features for Large-Scale Kernel Machines*, algorithm 1.
    """
    return (
        np.random.default_rng([seed, width, number]).standard_normal((width, number))
        / sigma
    )


def feature_sums(
    vectors: np.ndarray, frequency: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums over texts of the cosines and sines of vectors (B, N, d) at
    frequencies (d, D): two arrays (B, 2 D).

    The first is that of the n candidates, which come first, the second that of the
    references. The inner product of the features of two texts, divided by D, is an
    unbiased estimate of their kernel.
    """
    width, number = frequency.shape
    first = np.empty((len(vectors), 2 * number))
    second = np.empty((len(vectors), 2 * number))
    step = max(8, _PRODUCT // (vectors.shape[1] * width) // 8 * 8)
    blocks = [
        np.ascontiguousarray(frequency[:, start : start + step])
        for start in range(0, number, step)
    ]
    for start in range(0, len(vectors), _EXAMPLES):
        examples = vectors[start : start + _EXAMPLES]
        phase = np.empty((*examples.shape[:2], number))
        whole = geometry.are_whole(examples)
        for row in np.flatnonzero(whole):
            phase[row] = geometry.project_whole(examples[row], frequency)
        # One matrix product per example: its digits do not depend on the other
        # examples.
        others = examples[~whole].astype(np.float64)
        phase[~whole] = np.concatenate(
            [np.matmul(others, frequency_block) for frequency_block in blocks], axis=-1
        )
        # Beyond 2^20, where the kernel of any two texts is 0, the sine has no value.
        phase = np.where(
            np.abs(phase) > _LARGEST_PHASE, np.fmod(phase, 2 * math.pi), phase
        )
        waves = np.concatenate([sin(phase + math.pi / 2), sin(phase)], axis=-1)
        first[start : start + _EXAMPLES] = waves[:, :n].sum(axis=1)
        second[start : start + _EXAMPLES] = waves[:, n:].sum(axis=1)
    return first, second


def mmd_of_sums(
    first: np.ndarray, n: np.ndarray, second: np.ndarray, m: np.ndarray
) -> np.ndarray:
    """Return the squared MMD (biased) for sums of features (..., 2 D) of n (...) and m
    (...) texts, in [0, 4].
    """
    difference = first / n[..., None] - second / m[..., None]
    return (difference * difference).sum(axis=-1) / (first.shape[-1] // 2)


def median_distance(vectors: np.ndarray) -> float:
    """Return the median Euclidean distance of at most :data:`SAMPLE` vectors (T, d),
    evenly spaced; 1 where it is 0.
    """
    from scipy.spatial.distance import pdist

    # An even subsample of sorted, distinct texts: the width does not depend on the
    # order of the references.
    step = max(1, -(-len(vectors) // SAMPLE))
    distances = pdist(vectors[::step].astype(np.float64))
    median = float(np.median(distances)) if len(distances) else 0.0
    return median or 1.0


# --------------------------------------------------------------------------- metrics


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
        out[:, 0], out[:, 1] = batch.n, batch.m
        vectors = features.vectors(self.embedding, batch.text_ids)
        sums = feature_sums(vectors, state.frequencies, batch.n)
        out[:, 2 : 2 + 2 * self.features], out[:, 2 + 2 * self.features :] = sums
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
