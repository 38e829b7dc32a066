"""Quantisation of many small sets of vectors at once, each on its own."""

from __future__ import annotations

import numpy as np

from harness_metrics.kernel.geometry import unit_vectors
from harness_metrics.mauve.components import (
    EQUAL,
    EXPLAINED,
    canonical_key,
    leading_components,
    principal_axes,
)
from harness_metrics.mauve.quantise import join_equal


def many_buckets(
    vectors: np.ndarray, k: int, *, seed: int = 25, redo: int = 5, max_iter: int = 100
) -> np.ndarray:
    """Return the buckets (B, N), int64, of many small sets of vectors (B, N, d),
    each quantised on its own.
    """
    points, order = _small_coordinates(vectors)
    batch, size, _ = points.shape

    rng = np.random.default_rng([seed, size, k])
    # All sets of one shape start from the same positions of their sorted points: the
    # buckets of an example do not depend on the batch that holds it. [redo, k]
    starts = np.stack([rng.permutation(size)[np.arange(k) % size] for _ in range(redo)])
    labels = _lloyd_batch(points, points[:, starts], max_iter)

    out = np.empty((batch, size), dtype=np.int64)
    np.put_along_axis(out, order, labels, axis=1)
    return join_equal(vectors, out)


def _small_coordinates(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal coordinates (B, N, N) of vectors (B, N, d) in canonical order,
    dropped components 0, and the order (B, N).
    """
    points = unit_vectors(vectors)
    order = np.argsort(canonical_key(points), axis=1, kind="stable")
    points = np.take_along_axis(points, order[:, :, None], axis=1)
    points -= points.mean(axis=1, keepdims=True)

    values, axes = principal_axes(points @ points.transpose(0, 2, 1))
    leading_values = np.where(leading_components(values, EXPLAINED), values, 0.0)
    return axes * np.sqrt(leading_values)[:, None, :], order


def _lloyd_batch(points: np.ndarray, centres: np.ndarray, max_iter: int) -> np.ndarray:
    """Return the best of R runs of Lloyd's iteration, shape (B, N), on points (B, N, r)
    from centres (B, R, k, r).
    """
    k: int = centres.shape[2]
    labels, cost = _nearest_batch(points, centres)
    for _ in range(max_iter - 1):
        previous = labels
        # [B, R, k, N]
        one_hot = (labels[:, :, None, :] == np.arange(k)[:, None]).astype(np.float64)
        sizes = one_hot.sum(axis=3, keepdims=True)
        products = one_hot.reshape(len(points), -1, points.shape[1]) @ points
        sums = products.reshape(centres.shape)
        # an empty cluster keeps its centre
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
        labels, cost = _nearest_batch(points, centres)
        if np.array_equal(labels, previous):
            break

    variance = (points**2).sum(axis=(1, 2))[:, None]
    best: np.ndarray = (
        cost <= cost.min(axis=1, keepdims=True) + EQUAL * variance
    ).argmax(axis=1)
    return labels[np.arange(len(labels)), best]


def _nearest_batch(
    points: np.ndarray, centres: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of centres (B, R, k, r) to each of points (B, N, r), shape (B,
    R, N), and the sums of squares (B, R).

    It is the first of those whose distances are equal.
    """
    batch, runs, k, width = centres.shape
    norms = np.einsum("bnd,bnd->bn", points, points)
    centre_norms = np.einsum("brkd,brkd->brk", centres, centres)
    cross = centres.reshape(batch, runs * k, width) @ points.transpose(0, 2, 1)
    cross = cross.reshape(batch, runs, k, -1)
    squared = centre_norms[..., None] - 2 * cross + norms[:, None, None, :]

    equal = EQUAL * norms.max(axis=1)[:, None, None, None]
    is_nearest = squared <= squared.min(axis=2, keepdims=True) + equal
    labels: np.ndarray = is_nearest.argmax(axis=2)
    costs = np.take_along_axis(squared, labels[:, :, None, :], axis=2)
    return labels, costs.sum(axis=(2, 3))
