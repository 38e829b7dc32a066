"""Triangle-rank statistic of sets of events, under all relabelings of whole sets.

The events of one set are not independent draws: they divide one video among them, and
an event of one annotator often has its like in every other set. A triangle therefore
has events of three *different* sets, two of one side and one of the other, so that the
three are exchangeable where the sets are. Its edges and ranks are those of
:mod:`harness_metrics.trm.statistic`, but for ties: events of different moments all have
the largest distance, and a triangle with ties is divided among the ranks that it fits,
so that every edge is the shortest with the same probability. Three sets have the weight
1, whatever number of events they hold: T_r of three sets is the share of their
triangles of rank r.

T_r(s) under the labels s of the sets is a sum over pairs of sets with different labels,
by the identity of :mod:`harness_metrics.trm.statistic`.
"""

from __future__ import annotations

import numpy as np

from harness_metrics.trm.triangles import INDICATOR_BYTES, edge_ranks


def rank_shares_of_sets(distances: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the shares of the ranks among the triangles of three sets, float64, shape
    (3, N, N, N) over rank, sets of the pair and opposite set; 0 where two of the sets
    are one.

    Parameters
    ----------
    distances : ndarray, shape (E, E)
        Symmetric distances of events, those of a set one after the other.
    sizes : ndarray, shape (N,)
        Number of events of each set, at least 1.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 5.0])
    >>> shares = rank_shares_of_sets(abs(points[:, None] - points), np.array([1, 1, 1]))
    >>> shares[:, 0, 1, 2].tolist(), shares[:, 0, 2, 1].tolist()
    ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    """
    number = len(sizes)
    starts = np.cumsum(sizes) - sizes
    owners = np.repeat(np.arange(number), sizes)
    counts = np.zeros((3, number, number, number))

    # memory grows with E^2, not with E^3
    step = max(1, INDICATOR_BYTES // max(1, distances.size))
    for first in range(0, len(distances), step):
        rows = slice(first, first + step)
        # a, b and x of the triangle are the axes
        ranks = edge_ranks(
            distances[rows, :, None], distances[rows, None, :], distances[None]
        )
        # a triangle with ties is divided among the ranks that it fits
        fits = np.add.reduce(ranks, dtype=np.float64)
        for r, indicator in enumerate(ranks):
            by_b = np.add.reduceat(indicator / fits, starts, axis=1)
            by_set = np.add.reduceat(by_b, starts, axis=2)
            np.add.at(counts[r], owners[rows], by_set)

    i, j, k = np.ogrid[:number, :number, :number]
    distinct = (i != j) & (i != k) & (j != k)
    return np.where(distinct, counts / (sizes[i] * sizes[j] * sizes[k]), 0.0)


def forms_of_ranks(shares: np.ndarray) -> np.ndarray:
    """Return the forms of T_0, T_1 and T_2 (see :mod:`harness.stats.forms`), shape
    (..., N, N), symmetric, for shares (..., N, N, N) of sets (i, j | k).
    """
    # Half of a triangle is added to its pairs (i, k) and (j, k) and taken from (i, j).
    half = 0.5 * (shares.sum(axis=-2) + shares.sum(axis=-3) - shares.sum(axis=-1))
    return half + np.swapaxes(half, -1, -2)
