"""Quantisation of vectors into buckets: principal components, then k-means (Pillutla et al. 2021, section 2 and appendix A).

Vectors are scaled to unit length, projected on the leading principal components that hold 90 % of the variance, and clustered
by Lloyd's algorithm from ``redo`` random starts; the result with the smallest within-cluster sum of squares is used.
Points are sorted by their coordinates first, so that neither their order nor their labels change a bucket. The result is fixed by
the seed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import require
from harness_metrics.kernel.geometry import unit_vectors

EXPLAINED = 0.9
"""Share of the variance that the principal components hold."""
_ROWS = 8192


def buckets(vectors: np.ndarray, k: int, *, seed: int = 25, redo: int = 5, max_iter: int = 500, explained: float = EXPLAINED) -> np.ndarray:
    """Return the bucket of each vector.

    Parameters
    ----------
    vectors : ndarray, shape (N, d)
        Vectors of all texts.
    k : int
        Number of buckets; at most N are used.
    seed, redo : int
        Seed, and number of random starts of k-means (at least 1).
    max_iter : int
        Maximum number of iterations of each start.
    explained : float
        Share of the variance that the principal components hold.

    Returns
    -------
    ndarray, shape (N,)
        Buckets 0 to k - 1, int64; equal vectors share one.

    Raises
    ------
    ValueError
        If k < 1.
    """
    labels = clusters(reduce_dimensions(vectors, explained), k, seed=seed, redo=redo, max_iter=max_iter)
    return _same_for_equal(np.asarray(vectors)[None], labels[None])[0]


def many_buckets(vectors: np.ndarray, k: int, *, seed: int = 25, redo: int = 5, max_iter: int = 100) -> np.ndarray:
    """Return the buckets (B, N), int64, of many small sets of vectors (B, N, d), each quantised on its own."""
    points, order = _small_coordinates(vectors)
    batch, size, _ = points.shape
    rng = np.random.default_rng([seed, size, k])
    # All sets of one shape start from the same positions of their sorted points: the buckets of an example do not
    # depend on the batch that holds it.
    starts = np.stack([rng.permutation(size)[np.arange(k) % size] for _ in range(redo)])  # [redo, k]
    out = np.empty((batch, size), dtype=np.int64)
    np.put_along_axis(out, order, _lloyd_batch(points, points[:, starts], max_iter), axis=1)
    return _same_for_equal(vectors, out)


def _same_for_equal(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return labels (B, N) with equal vectors in one bucket; rounding may have split them at a tie."""
    order = np.argsort(_canonical_key(vectors), axis=1, kind="stable")
    ranked = np.take_along_axis(vectors, order[:, :, None], axis=1)
    starts = np.ones(order.shape, dtype=bool)
    starts[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=2)
    size: int = order.shape[1]
    # Sorting by the key puts equal vectors side by side; each takes the label of the first of its run.
    first = np.maximum.accumulate(np.where(starts, np.arange(size), 0), axis=1)
    out = np.empty_like(labels)
    np.put_along_axis(out, order, np.take_along_axis(labels, np.take_along_axis(order, first, axis=1), axis=1), axis=1)
    return out


def _canonical_key(points: np.ndarray) -> np.ndarray:
    """Return a sort key (..., N) of points (..., N, r) that depends on the point alone; a random projection, in practice unique."""
    width: int = points.shape[-1]
    return (points * np.random.default_rng(width).standard_normal(width)).sum(axis=-1)


def reduce_dimensions(vectors: np.ndarray, explained: float = EXPLAINED) -> np.ndarray:
    """Return unit vectors on their leading principal components, float32, shape (N, r).

    r is the smallest number of components of the vectors (N, d) that hold at least the share ``explained`` of the variance.
    """
    points = unit_vectors(vectors)
    points -= points.mean(axis=0)
    # Eigenvectors of the d x d scatter matrix are the principal axes; eigh sorts their eigenvalues in ascending
    # order.
    values, axes = np.linalg.eigh(points.T @ points)
    values = np.maximum(values[::-1], 0.0)
    if not values.sum() > 0:
        return np.zeros((len(points), 1), dtype=np.float32)
    keep = int(np.argmax(np.cumsum(values) >= explained * values.sum())) + 1
    return (points @ axes[:, ::-1][:, :keep]).astype(np.float32)


def clusters(points: np.ndarray, k: int, *, seed: int = 25, redo: int = 5, max_iter: int = 500) -> np.ndarray:
    """Return the k-means clusters (N,), int64, of points (N, r); at most N clusters are used. Raises ValueError if k < 1.

    >>> clusters(np.array([[0.0], [0.1], [9.0]]), 2)[:2].tolist() in ([0, 0], [1, 1])
    True
    """
    if k < 1:
        raise ValueError(f"k-means needs k >= 1; found {k}")
    # Random starts select positions. In sorted order the same points are selected whatever the order of the texts,
    # which makes the metric a function of the set.
    order = np.argsort(_canonical_key(points.astype(np.float64)), kind="stable")
    ordered = np.ascontiguousarray(points[order], dtype=np.float32)
    k = min(k, len(ordered))
    runs: list[_Clustering] = []
    for start in range(redo):
        rng = np.random.default_rng([seed, start])
        centres = ordered[rng.choice(len(ordered), size=k, replace=False)]
        runs.append(_lloyd(ordered, centres, max_iter))
    out = np.empty(len(points), dtype=np.int64)
    out[order] = min(runs, key=lambda run: run.cost).labels
    return out


class _Clustering(NamedTuple):
    """Fixed point of Lloyd's iteration."""

    cost: float
    """Within-cluster sum of squares."""
    labels: np.ndarray
    """Clusters, shape (N,)."""


def _lloyd(points: np.ndarray, centres: np.ndarray, max_iter: int) -> _Clustering:
    """Iterate from centres (k, r) until the assignment of points (N, r) no longer changes."""
    labels, squared = _nearest(points, centres)
    for _ in range(max_iter - 1):
        previous = labels
        centres = _means(points, labels, squared, centres)
        labels, squared = _nearest(points, centres)
        if np.array_equal(labels, previous):
            break
    return _Clustering(float(squared.sum(dtype=np.float64)), labels)


def _nearest(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of centres (k, r) to each of points (N, r), shape (N,), and the squared distances (N,)."""
    labels, squared = np.empty(len(points), dtype=np.int64), np.empty(len(points), dtype=np.float32)
    # |x - c|^2 = |x|^2 - 2 (<x, c> - |c|^2 / 2): the nearest centre has the largest bracket, and |x|^2 is needed for
    # the cost alone.
    half = 0.5 * np.einsum("kd,kd->k", centres, centres)
    for start in range(0, len(points), _ROWS):
        block = points[start : start + _ROWS]
        closeness = block @ centres.T
        closeness -= half
        nearest = closeness.argmax(axis=1)
        labels[start : start + _ROWS] = nearest
        best = np.take_along_axis(closeness, nearest[:, None], axis=1)[:, 0]
        squared[start : start + _ROWS] = np.maximum(np.einsum("nd,nd->n", block, block) - 2 * best, 0)
    return labels, squared


def _means(points: np.ndarray, labels: np.ndarray, squared: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the new centres (k, r). An empty cluster moves to the point with the largest distance from its centre."""
    sparse = require("scipy.sparse", needed_by="k-means")
    k = len(centres)
    sizes = np.bincount(labels, minlength=k)
    # One row per point with a single 1: the product sums points of a cluster in float64, in the order of the points.
    belongs = sparse.csr_matrix((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), k))
    sums: np.ndarray = belongs.T @ points.astype(np.float64)
    out = (sums / np.maximum(sizes, 1)[:, None]).astype(np.float32)
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        # An empty cluster would waste a bucket; the worst-fitting point starts it anew.
        out[empty] = points[np.argsort(-squared, kind="stable")[: len(empty)]]
    return out


# --------------------------------------------------------------------------- many small sets
def _small_coordinates(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal coordinates (B, N, N) of vectors (B, N, d) in canonical order, dropped components 0, and the order (B, N)."""
    points = unit_vectors(vectors)
    order = np.argsort(_canonical_key(points), axis=1, kind="stable")
    points = np.take_along_axis(points, order[:, :, None], axis=1)
    points -= points.mean(axis=1, keepdims=True)
    # With fewer points than dimensions, the N x N matrix of products has the same eigenvalues other than 0; its
    # eigenvectors times the roots are the principal coordinates themselves.
    values, axes = np.linalg.eigh(points @ points.transpose(0, 2, 1))
    values, axes = np.maximum(values[:, ::-1], 0.0), axes[:, :, ::-1]
    # A component is needed while those before it hold less than the share.
    before = np.cumsum(values, axis=1) - values
    leading = np.where(before < EXPLAINED * values.sum(axis=1, keepdims=True), values, 0.0)
    return axes * np.sqrt(leading)[:, None, :], order


def _lloyd_batch(points: np.ndarray, centres: np.ndarray, max_iter: int) -> np.ndarray:
    """Return the best of R runs of Lloyd's iteration, shape (B, N), on points (B, N, r) from centres (B, R, k, r)."""
    k: int = centres.shape[2]
    labels, cost = _nearest_batch(points, centres)
    for _ in range(max_iter - 1):
        previous = labels
        one_hot = (labels[:, :, None, :] == np.arange(k)[:, None]).astype(np.float64)  # [B, R, k, N]
        sizes = one_hot.sum(axis=3, keepdims=True)
        sums = (one_hot.reshape(len(points), -1, points.shape[1]) @ points).reshape(centres.shape)
        centres = np.where(sizes > 0, sums / np.maximum(sizes, 1), centres)
        labels, cost = _nearest_batch(points, centres)
        if np.array_equal(labels, previous):
            break
    return labels[np.arange(len(labels)), cost.argmin(axis=1)]


def _nearest_batch(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of centres (B, R, k, r) to each of points (B, N, r), shape (B, R, N), and the sums of squares (B, R)."""
    batch, runs, k, width = centres.shape
    norms = np.einsum("bnd,bnd->bn", points, points)
    cross = (centres.reshape(batch, runs * k, width) @ points.transpose(0, 2, 1)).reshape(batch, runs, k, -1)
    squared = np.einsum("brkd,brkd->brk", centres, centres)[..., None] - 2 * cross + norms[:, None, None, :]
    labels: np.ndarray = squared.argmin(axis=2)
    return labels, np.take_along_axis(squared, labels[:, :, None, :], axis=2).sum(axis=(2, 3))
