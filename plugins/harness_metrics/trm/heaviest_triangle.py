"""The triangle of an example that weighs most in the triangle-rank statistic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RANKS = ("closer to each other", "between the two distances", "farther apart")
"""Description of d_IN by its rank: smallest, middle, largest."""


@dataclass(frozen=True)
class Triangle:
    """Two texts of one sample and one of the other."""

    a: int
    b: int
    x: int
    rank: int
    """0, 1 or 2: d[a, b] is the smallest, the middle or the largest edge."""
    share: float
    """Share of the triangles of this rank; 1/3 where distances do not separate the
    samples.
    """
    inner: float
    to_a: float
    to_b: float


def heaviest_triangle(distances: np.ndarray, n_candidates: int) -> Triangle | None:
    """Return the triangle with the largest margin among those of the most frequent
    rank; None without a triangle.

    Parameters
    ----------
    distances : ndarray, shape (N, N)
        Distances, rows the hypothesis; the candidates come first.
    n_candidates : int
        Number of candidates n.

    Notes
    -----
    The margin of a triangle is the smallest change of d[a, b] that changes its rank.
    Triangles, edges and ranks are those of :mod:`harness_metrics.trm.statistic`.

    Examples
    --------
    >>> points = np.array([0.0, 0.1, 5.0, 5.2])
    >>> best = heaviest_triangle(abs(points[:, None] - points), 2)
    >>> best.rank, best.share, best.a, best.b, best.x
    (0, 1.0, 0, 1, 3)
    """
    size = len(distances)
    is_candidate = np.arange(size) < n_candidates
    a, b, x = np.ogrid[:size, :size, :size]
    valid = (
        (is_candidate[a] == is_candidate[b])
        & (is_candidate[x] != is_candidate[a])
        & (a != b)
    )
    if not valid.any():
        return None

    inner = distances[:, :, None]
    to_a = distances.T[:, None, :]
    to_b = distances.T[None, :, :]
    shorter = np.minimum(to_a, to_b)
    longer = np.maximum(to_a, to_b)

    # ties count for every rank that they fit, as in the statistic
    ranks = [inner <= shorter, (shorter <= inner) & (inner <= longer), inner >= longer]
    members = np.stack(ranks) & valid
    counts = members.sum(axis=(1, 2, 3))
    rank = int(np.argmax(counts))

    margins = (
        shorter - inner,
        np.minimum(inner - shorter, longer - inner),
        inner - longer,
    )[rank]
    heaviest = np.argmax(np.where(members[rank], margins, -np.inf))
    i, j, k = np.unravel_index(heaviest, members[rank].shape)
    return Triangle(
        int(i),
        int(j),
        int(k),
        rank,
        float(counts[rank] / counts.sum()),
        float(distances[i, j]),
        float(distances[k, i]),
        float(distances[k, j]),
    )
