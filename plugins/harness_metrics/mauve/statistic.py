"""MAUVE of two samples of vectors, of many small samples, and under relabelings; its
spread over seeds and numbers of buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness_metrics.mauve import components, frontier, quantise, small_sets

MOST_BUCKETS = 500
"""Upper limit of the automatic number of buckets: n / 10 for the 5000 texts per side of
the authors' experiments.
"""


class Spread(NamedTuple):
    """Values of MAUVE for other seeds and numbers of buckets."""

    seeds: np.ndarray
    """Values by k-means seed, shape (S,)."""
    by_buckets: dict[int, float]
    """Value by number of buckets, for the first seed."""

    @property
    def sd(self) -> float:
        """Standard deviation over seeds, with divisor S - 1; NaN for one seed."""
        return float(self.seeds.std(ddof=1)) if len(self.seeds) > 1 else float("nan")


def automatic_buckets(n: int, m: int) -> int:
    """Return a tenth of the smaller sample size, at least 2 and at most 500.

    >>> automatic_buckets(300, 90)
    9
    """
    return max(2, min(MOST_BUCKETS, round(min(n, m) / 10)))


def spread(
    x: np.ndarray,
    y: np.ndarray,
    k: int | None = None,
    *,
    seeds: Sequence[int],
    factors: Sequence[float] = (0.5, 2.0),
    redo: int = 5,
    scaling: float = frontier.SCALING,
) -> Spread:
    """Return MAUVE of x (n, d) and y (m, d) for several seeds, and for ``k`` times each
    factor buckets with the first seed.

    Parameters
    ----------
    x, y : ndarray, shapes (n, d) and (m, d)
        Vectors of the samples.
    k : int, optional
        Number of buckets. The default is :func:`automatic_buckets`.
    seeds : sequence of int
        Seeds of k-means.
    factors : sequence of float
        Factors of the number of buckets.
    redo : int
        Number of random starts of k-means.
    scaling : float
        The constant c of the paper (Pillutla et al. 2021, section 2).
    """
    k = automatic_buckets(len(x), len(y)) if k is None else k
    points = components.reduce_dimensions(np.concatenate([x, y]))

    def value(buckets: int, seed: int) -> float:
        clusters = quantise.clusters(points.coordinates, buckets, seed=seed, redo=redo)
        labels = points.in_order_of_vectors(clusters)
        return float(area_of_buckets(labels, len(x), scaling))

    others = sorted({max(2, round(k * factor)) for factor in factors} - {k})
    return Spread(
        np.array([value(k, seed) for seed in seeds]),
        {buckets_beside: value(buckets_beside, seeds[0]) for buckets_beside in others},
    )


def area_of_buckets(labels: np.ndarray, n: int, scaling: float) -> np.ndarray:
    """Return MAUVE, shape (), of buckets (N,), the n candidates first."""
    width = int(labels.max()) + 1
    p, q = (
        np.bincount(side, minlength=width) / len(side)
        for side in (labels[:n], labels[n:])
    )
    return frontier.area(p, q, scaling)


def relabel(
    vectors: np.ndarray,
    labels: np.ndarray,
    k: int,
    *,
    seed: int,
    redo: int,
    scaling: float = frontier.SCALING,
) -> np.ndarray:
    """Return MAUVE of sets of vectors (B, N, d) under labels (P, N), bool,
    shape (B, P).

    All rows of ``labels`` have the same number of candidates. The buckets do not depend
    on the labels: a relabeling changes only the histograms, and relabelings with the
    same histogram are evaluated once.
    """
    buckets = small_sets.many_buckets(vectors, k, seed=seed, redo=redo)
    is_candidate = np.asarray(labels, dtype=np.float64)
    n = int(is_candidate[0].sum())
    size = labels.shape[1]

    pairs = list[np.ndarray]()
    positions = list[np.ndarray]()
    for one_hot in buckets[:, :, None] == np.arange(k):
        # A relabeling enters by its histogram alone. With few buckets there are far
        # fewer histograms than relabelings, and each is evaluated once, for all
        # examples; a histogram in base N + 1 is one integer, which sorts faster than
        # rows.
        first = np.rint(is_candidate @ one_hot).astype(np.int64)  # [P, k]
        distinct, position = _distinct_rows(first, size)
        positions.append(position + sum(map(len, pairs)))
        pairs.append(np.concatenate([distinct, one_hot.sum(axis=0) - distinct], axis=1))

    histograms, position = _distinct_rows(np.concatenate(pairs), size)
    areas = frontier.area(
        histograms[:, :k] / n, histograms[:, k:] / (size - n), scaling
    )
    return areas[position[np.stack(positions)]]


def _distinct_rows(counts: np.ndarray, largest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of counts (R, k), whole numbers from 0 to ``largest``,
    and the position of each row among them, (R,).
    """
    # a row as one integer, where it has room
    if (largest + 1.0) ** counts.shape[1] < 2**62:
        codes = counts @ (largest + 1) ** np.arange(counts.shape[1], dtype=np.int64)
        _, first, position = np.unique(codes, return_index=True, return_inverse=True)
        return counts[first], position.ravel()

    distinct, position = np.unique(counts, axis=0, return_inverse=True)
    return distinct, position.ravel()
