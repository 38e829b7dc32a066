"""Maximum mean discrepancy of corpora by random Fourier features, whose statistics are
sums over texts.
"""

from __future__ import annotations

import math

import numpy as np

from caption_kernels import sin
from harness_metrics.kernel import geometry

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
    rng = np.random.default_rng([seed, width, number])
    return rng.standard_normal((width, number)) / sigma


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
        products = [np.matmul(others, block) for block in blocks]
        phase[~whole] = np.concatenate(products, axis=-1)

        # Beyond 2^20, where the kernel of any two texts is 0, the sine has no value.
        is_large = np.abs(phase) > _LARGEST_PHASE
        phase = np.where(is_large, np.fmod(phase, 2 * math.pi), phase)

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
