"""Unit vectors on their leading principal components, in an order that depends on the
set of vectors alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness_metrics.kernel.geometry import unit_vectors

EXPLAINED = 0.9
"""Share of the variance that the principal components hold."""
EQUAL = 1e-9
"""Variances, distances and sums of squares that differ by this much or less, relative
to the largest, differ by rounding alone.
"""


def canonical_key(points: np.ndarray) -> np.ndarray:
    """Return a sort key (..., N) of points (..., N, r) that depends on the point alone;
    a random projection, in practice unique.
    """
    width: int = points.shape[-1]
    return (points * np.random.default_rng(width).standard_normal(width)).sum(axis=-1)


class Points(NamedTuple):
    """Vectors on their leading principal components,
    in an order that depends on the set of vectors alone.
    """

    coordinates: np.ndarray
    """Shape (N, r)."""
    order: np.ndarray
    """Index of the vector of each point, shape (N,)."""

    def in_order_of_vectors(self, labels: np.ndarray) -> np.ndarray:
        """Return labels (N,) of the points in the order of the vectors."""
        out = np.empty_like(labels)
        out[self.order] = labels
        return out


def reduce_dimensions(vectors: np.ndarray, explained: float = EXPLAINED) -> Points:
    """Return unit vectors on their leading principal components.

    r is the smallest number of components of the vectors (N, d) that hold at least the
    share ``explained`` of the variance, or a larger one where the next components have
    the variance of the last.
    """
    points = unit_vectors(vectors)
    # Random starts select positions. In sorted order the same points are selected
    # whatever the order of the texts, which makes the metric a function of the set.
    order = np.argsort(canonical_key(points), kind="stable")
    points = points[order]
    points -= points.mean(axis=0)

    # the smaller of the two matrices of products
    if len(points) <= points.shape[1]:
        values, axes = principal_axes(points @ points.T)
        coordinates = axes * np.sqrt(values)
    else:
        values, axes = principal_axes(points.T @ points)
        coordinates = points @ axes
    return Points(coordinates[:, leading_components(values, explained)], order)


def principal_axes(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues (..., n), descending and at least 0, and eigenvectors
    (..., n, n) of matrices (..., n, n).
    """
    # For centred points X, X'X has the principal axes as eigenvectors. XX' has the same
    # eigenvalues other than 0, and its eigenvectors times their roots are the
    # coordinates themselves.
    values, axes = np.linalg.eigh(products)
    return np.maximum(values[..., ::-1], 0.0), axes[..., ::-1]


def leading_components(values: np.ndarray, explained: float) -> np.ndarray:
    """Return which components are kept, bool, shape (..., r),
    for their variances (..., r) in descending order.
    """
    # A component is needed while those before it hold less than the share.
    before = np.cumsum(values, axis=-1) - values
    needed = before < (1.0 - EQUAL) * explained * values.sum(axis=-1, keepdims=True)
    needed[..., 0] = True
    smallest = np.where(needed, values, np.inf).min(axis=-1, keepdims=True)
    return values >= smallest - EQUAL * values[..., :1]
