"""Quantisation of vectors into buckets: principal components, then k-means (Pillutla et
al. 2021, section 2 and appendix A).

Vectors are scaled to unit length, projected on the leading principal components that
hold 90 % of the variance, and clustered by Lloyd's algorithm from ``redo`` random
starts; the result with the smallest within-cluster sum of squares is used. The result
is fixed by the seed.

Neither the order of the vectors nor the processor and its threads change a bucket.
LAPACK chooses the signs of components, and the axes of those with equal variances, by
its rounding errors, so that nothing may depend on coordinates, but on distances alone,
which these choices leave as they are. Therefore points are sorted by their vectors
before positions are drawn, components of equal variances are kept or dropped together,
and distances within :data:`EQUAL` of each other are equal: of centres at equal
distances the first is the nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import require
from harness_metrics.kernel.geometry import merge_close
from harness_metrics.mauve.components import (
    EQUAL,
    EXPLAINED,
    canonical_key,
    reduce_dimensions,
)

_ROWS = 8192
"""Points whose distances are in memory at a time."""
_SINGLE = float(np.finfo(np.float32).eps)


def buckets(
    vectors: np.ndarray,
    k: int,
    *,
    seed: int = 25,
    redo: int = 5,
    max_iter: int = 500,
    explained: float = EXPLAINED,
) -> np.ndarray:
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
    points = reduce_dimensions(vectors, explained)
    labels = points.in_order_of_vectors(
        clusters(points.coordinates, k, seed=seed, redo=redo, max_iter=max_iter)
    )
    return join_equal(np.asarray(vectors)[None], labels[None])[0]


def join_equal(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return labels (B, N) with equal vectors in one bucket;
    rounding may have split them at a tie.
    """
    order = np.argsort(canonical_key(vectors), axis=1, kind="stable")
    ranked = np.take_along_axis(vectors, order[:, :, None], axis=1)
    starts = np.ones(order.shape, dtype=bool)
    starts[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]).any(axis=2)
    size: int = order.shape[1]

    # Sorting by the key puts equal vectors side by side; each takes the label of the
    # first of its run.
    first = np.maximum.accumulate(np.where(starts, np.arange(size), 0), axis=1)
    of_first = np.take_along_axis(order, first, axis=1)

    out = np.empty_like(labels)
    np.put_along_axis(out, order, np.take_along_axis(labels, of_first, axis=1), axis=1)
    return out


def clusters(
    points: np.ndarray, k: int, *, seed: int = 25, redo: int = 5, max_iter: int = 500
) -> np.ndarray:
    """Return the k-means clusters (N,), int64, of points (N, r);
    at most N clusters are used.

    Raises ValueError if k < 1.

    The starts are drawn by position: :func:`reduce_dimensions` gives an order that
    depends on the set of points alone.

    >>> clusters(np.array([[0.0], [0.1], [9.0]]), 2)[:2].tolist() in ([0, 0], [1, 1])
    True
    """
    if k < 1:
        raise ValueError(f"k-means needs k >= 1; found {k}")
    cloud = _Cloud.of(np.asarray(points, dtype=np.float64))
    k = min(k, len(points))

    runs = list[np.ndarray]()
    costs = list[float]()
    for start in range(redo):
        rng = np.random.default_rng([seed, start])
        centres = cloud.points[rng.choice(len(points), size=k, replace=False)]
        centres, labels = _lloyd(cloud, centres, max_iter)
        runs.append(labels)
        costs.append(float(_squared_distances(cloud.points, centres, labels).sum()))

    # of runs that are equally good up to rounding the first
    bound = min(costs) + EQUAL * cloud.scale * len(points)
    return runs[int(np.argmax(np.array(costs) <= bound))]


class _Cloud(NamedTuple):
    """Points, and what the search for the nearest centre needs of them."""

    points: np.ndarray
    """Shape (N, r), float64."""
    single: np.ndarray
    """The points in float32."""
    scale: float
    """Largest squared length of a point."""

    @classmethod
    def of(cls, points: np.ndarray) -> _Cloud:
        return cls(
            points, points.astype(np.float32), float((points**2).sum(axis=1).max())
        )


def _lloyd(
    cloud: _Cloud, centres: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """Iterate from centres (k, r) until the assignment of the points no longer changes;
    return the centres and clusters (N,).
    """
    labels = _nearest(cloud, centres)
    for _ in range(max_iter - 1):
        previous = labels
        centres = _means(cloud.points, labels, centres)
        labels = _nearest(cloud, centres)
        if np.array_equal(labels, previous):
            break
    return centres, labels


def _nearest(cloud: _Cloud, centres: np.ndarray) -> np.ndarray:
    """Return the nearest of centres (k, r) to each point, shape (N,): the first of
    those whose distances are equal.
    """
    labels = np.empty(len(cloud.points), dtype=np.int64)
    # |x - c|^2 = |x|^2 - 2 (<x, c> - |c|^2 / 2): the nearest centre has the largest
    # bracket.
    half = 0.5 * (centres**2).sum(axis=1)
    single_centres = centres.astype(np.float32)
    single_half = half.astype(np.float32)

    # Products in float32 take half the time. They settle all points but the few whose
    # two nearest centres are closer to each other than the errors of r products and
    # sums, and those are compared in float64.
    error = 2.0 * (centres.shape[1] + 4) * _SINGLE * cloud.scale
    for start in range(0, len(labels), _ROWS):
        rows = slice(start, start + _ROWS)
        closeness = cloud.single[rows] @ single_centres.T
        closeness -= single_half
        nearest = closeness.argmax(axis=1)
        best = np.take_along_axis(closeness, nearest[:, None], axis=1)

        is_near = closeness >= best - np.float32(error)
        unsettled = np.flatnonzero(np.count_nonzero(is_near, axis=1) > 1)
        exact = cloud.points[rows][unsettled] @ centres.T - half
        is_nearest = exact >= exact.max(axis=1, keepdims=True) - EQUAL * cloud.scale
        nearest[unsettled] = is_nearest.argmax(axis=1)

        labels[rows] = nearest
    return labels


def _squared_distances(
    points: np.ndarray, centres: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the squared distances (N,) of points (N, r) from the centres (k, r) of
    their clusters (N,).
    """
    blocks: list[np.ndarray] = []
    for start in range(0, len(points), _ROWS):
        rows = slice(start, start + _ROWS)
        differences = points[rows] - centres[labels[rows]]
        blocks.append((differences**2).sum(axis=1))
    return np.concatenate(blocks)


def _means(points: np.ndarray, labels: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the new centres (k, r).

    An empty cluster moves to the point with the largest distance from its centre.
    """
    sparse = require("scipy.sparse", needed_by="k-means")
    k = len(centres)
    sizes = np.bincount(labels, minlength=k)

    # One row per point with a single 1: the product sums points of a cluster, in the
    # order of the points.
    belongs = sparse.csr_matrix(
        (np.ones(len(labels)), labels, np.arange(len(labels) + 1)),
        shape=(len(labels), k),
    )
    sums: np.ndarray = belongs.T @ points
    out = sums / np.maximum(sizes, 1)[:, None]

    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        # An empty cluster would waste a bucket; the worst-fitting point starts it anew.
        squared = _squared_distances(points, centres, labels)
        (squared,) = merge_close(squared[None], EQUAL)
        out[empty] = points[np.argsort(-squared, kind="stable")[: len(empty)]]
    return out
