"""Sliced Wasserstein distance (Bonneel et al. 2015) of two samples of vectors.

    SW_p = (mean over directions u of W_p(C u, R u)^p)^(1/p)

In one dimension the optimal plan pairs quantiles. For samples of different sizes both
quantile functions are step functions. On each interval between consecutive levels i/n,
j/m they pair one candidate with one reference, with the length of the interval as
weight. The intervals depend on (n, m) alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from caption_kernels import power
from harness.stats import ties
from harness.stats.permutation_p_values import p_values
from harness_metrics.kernel import geometry, symmetric_relabelings

_CHUNK_BYTES = 16 << 20
_CHUNK = 1 << 14
_MOST_FACTORS = 16
"""Largest exponent whose power is a product of so many factors."""


class Coupling(NamedTuple):
    """Pairs of order statistics of two samples and their weights; K pairs."""

    first: np.ndarray
    """Ranks in the first sample, shape (K,)."""
    second: np.ndarray
    """Ranks in the second sample, shape (K,)."""
    weights: np.ndarray
    """Weights, shape (K,); they sum to 1."""


@lru_cache(maxsize=256)
def coupling(n: int, m: int) -> Coupling:
    """Return the quantile coupling of n and m equally weighted points; levels are exact
    integers in units of 1/(nm).

    >>> coupling(2, 1).weights.tolist()
    [0.5, 0.5]
    """
    # Both quantile functions are constant between consecutive levels. In units of
    # 1/(nm) the levels are integers, so that the ranks i // m and j // n are exact.
    levels = np.unique(np.concatenate([np.arange(n + 1) * m, np.arange(m + 1) * n]))
    starts = levels[:-1]
    return Coupling(starts // m, starts // n, np.diff(levels) / (n * m))


def directions(width: int, number: int, seed: int) -> np.ndarray:
    """Return ``number`` directions, uniform on the unit sphere in ``width`` = d
    dimensions, shape (d, number); fixed by the seed.
    """
    normal = np.random.default_rng([seed, width]).standard_normal((width, number))
    return normal / np.linalg.norm(normal, axis=0)


def project_vectors(vectors: np.ndarray, projections: int, seed: int) -> np.ndarray:
    """Return the coordinates of vectors (B, N, d) along L = ``projections`` directions,
    float64, shape (B, L, N).

    They are exactly 0 for an example whose vectors differ by rounding alone, see
    :func:`geometry.rounding`.
    """
    axes = directions(vectors.shape[-1], projections, seed)
    lines = np.empty((len(vectors), projections, vectors.shape[1]))
    is_whole = geometry.are_whole(vectors)
    for row, example_vectors in enumerate(vectors):
        if is_whole[row]:
            coordinates = geometry.project_whole(example_vectors, axes)
        else:
            coordinates = example_vectors.astype(np.float64) @ axes
        lines[row] = coordinates.T

    lines[np.ptp(lines, axis=2).max(axis=1) <= geometry.rounding(vectors)] = 0.0
    return lines


def compare_samples(lines: np.ndarray, n: int, p: float) -> np.ndarray:
    """Return distances (B,) for coordinates (B, L, N) with the n candidates first."""
    candidates = np.sort(lines[..., :n], axis=-1)
    references = np.sort(lines[..., n:], axis=-1)
    return _distance(candidates, references, p)


def relabel(lines: np.ndarray, labels: np.ndarray, p: float) -> np.ndarray:
    """Return distances (B, P) for coordinates (B, L, N) under labels (P, N), bool.

    Each line is sorted once, and labels with it.
    """
    labels = np.asarray(labels, dtype=bool)
    batch, count, size = lines.shape
    n = int(labels[0].sum())

    out = np.empty((batch, len(labels)))
    step = max(1, _CHUNK_BYTES // (24 * count * size))
    for row in range(batch):
        order = np.argsort(lines[row], axis=-1, kind="stable")
        ranked = np.take_along_axis(lines[row], order, axis=-1)
        for start in range(0, len(labels), step):
            # Each line is sorted once; a relabeling only divides the sorted
            # coordinates, which stay sorted within each sample.
            is_candidate = labels[start : start + step][:, order]  # (P, L, N)
            values = np.broadcast_to(ranked, is_candidate.shape)
            first = values[is_candidate].reshape(-1, count, n)
            second = values[~is_candidate].reshape(-1, count, size - n)
            out[row, start : start + step] = _distance(first, second, p)
    return out


def exact_p_values(lines: np.ndarray, n: int, p: float) -> np.ndarray:
    """Return exact p-values (B,) for coordinates (B, L, N); for n = m half of the
    relabelings are evaluated.

    The tolerance of ties is relative to the largest difference of two coordinates along
    one direction.
    """
    null = (
        relabel(lines, labels, p)
        for labels in symmetric_relabelings.chunks(n, lines.shape[-1] - n, _CHUNK)
    )
    scale: np.ndarray = np.ptp(lines, axis=2).max(axis=1)
    tolerance = ties.tolerance(scale, ties.FLOAT32)
    return p_values(
        compare_samples(lines, n, p), null, "upper", "exact", tolerance=tolerance
    )


def _distance(first: np.ndarray, second: np.ndarray, p: float) -> np.ndarray:
    """Return distances (...) for order statistics (..., L, n) and (..., L, m)."""
    plan = coupling(first.shape[-1], second.shape[-1])
    gaps = np.abs(first[..., plan.first] - second[..., plan.second])
    if p <= 2:
        powers = _weigh(_to_power(gaps, p), plan.weights)
        return _to_power(powers.mean(axis=-1), 1.0 / p)

    # Higher powers overflow in some units: divide by the power of two above the largest
    # gap.
    unit = np.ldexp(1.0, np.frexp(gaps.max(axis=(-2, -1)))[1])
    scaled = gaps / unit[..., None, None]
    powers = _weigh(_to_power(scaled, p), plan.weights)
    return _to_power(powers.mean(axis=-1), 1.0 / p) * unit


def _weigh(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted sums of values (..., K) over the last axis, added in its
    order, which a product of matrices does not keep.
    """
    total = values[..., 0] * weights[0]
    for k in range(1, len(weights)):
        total += values[..., k] * weights[k]
    return total


def _to_power(values: np.ndarray, exponent: float) -> np.ndarray:
    """Return values to a power above 0, with the same bits on every processor."""
    if exponent == 0.5:
        return np.sqrt(values)
    if not float(exponent).is_integer() or exponent > _MOST_FACTORS:
        return power(values, exponent)
    product = values
    for _ in range(int(exponent) - 1):
        product = product * values
    return product
