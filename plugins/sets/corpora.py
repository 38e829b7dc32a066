"""Maximum mean discrepancy of corpora by random Fourier features, whose statistics are sums over texts."""

from __future__ import annotations

import numpy as np

SAMPLE = 2000
"""Largest number of references whose median distance is the width of the kernel."""


def frequencies(width: int, number: int, sigma: float, seed: int) -> np.ndarray:
    """Return ``number`` frequencies of the Gaussian kernel of width ``sigma`` in ``width`` = d dimensions, shape (d, number).

    References
    ----------
    Rahimi & Recht 2007, *Random Features for Large-Scale Kernel Machines*, algorithm 1.
    """
    return np.random.default_rng([seed, width, number]).standard_normal((width, number)) / sigma


def feature_sums(vectors: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Return the sum over texts of the cosines and sines of vectors (..., T, d) at frequencies (d, D), shape (..., 2 D).

    The inner product of the features of two texts, divided by D, is an unbiased estimate of their kernel.
    """
    phase = vectors.astype(np.float64) @ frequency
    return np.concatenate([np.cos(phase).sum(axis=-2), np.sin(phase).sum(axis=-2)], axis=-1)


def mmd_of_sums(first: np.ndarray, n: np.ndarray, second: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Return the squared MMD (biased) for sums of features (..., 2 D) of n (...) and m (...) texts, in [0, 4]."""
    difference = first / n[..., None] - second / m[..., None]
    return (difference * difference).sum(axis=-1) / (first.shape[-1] // 2)


def median_distance(vectors: np.ndarray) -> float:
    """Return the median Euclidean distance of at most :data:`SAMPLE` vectors (T, d), evenly spaced; 1 where it is 0."""
    from scipy.spatial.distance import pdist

    step = max(1, -(-len(vectors) // SAMPLE))
    distances = pdist(vectors[::step].astype(np.float64))
    median = float(np.median(distances)) if len(distances) else 0.0
    return median or 1.0
