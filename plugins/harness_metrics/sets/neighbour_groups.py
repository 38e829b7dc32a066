"""Statistics of balls around the points of two corpora without each of some groups of
points, from one pass over the distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from harness_metrics.sets.corpus_neighbours import (
    distinct_points,
    half_squares,
    kth_smallest,
    rounding_errors,
)
from harness_metrics.sets.neighbours import Kind

_BLOCK_BYTES = 64 << 20
"""Size of a block of distances."""
_MORE = 24
"""Neighbours beyond k of which the ball without a group is formed;
a row that needs more is sorted.
"""


class Sample(NamedTuple):
    """Points of one side of the comparison."""

    vectors: np.ndarray
    """Shape (n, d)."""
    groups: np.ndarray
    """Group of each point, shape (n,), integers from 0."""

    def by_group(self) -> Sample:
        """Return the points in the order of their groups."""
        order = np.argsort(self.groups, kind="stable")
        return Sample(self.vectors[order], self.groups[order])


class _Block(NamedTuple):
    """Some centres and their distances."""

    rows: slice
    to_centres: np.ndarray
    """Shape (rows, C)."""
    to_others: np.ndarray
    """Shape (rows, O)."""


def without_groups(
    candidates: Sample, references: Sample, k: int, kind: Kind, count: int
) -> np.ndarray:
    """Return a statistic of two corpora without the points of each group, shape
    (count,); see :mod:`harness_metrics.sets.neighbours`.

    Parameters
    ----------
    candidates, references : Sample
        Points of both sides, of common groups.
    k : int
        Neighbour that a ball reaches.
    kind : {'precision', 'recall', 'density', 'coverage'}
        Statistic.
    count : int
        Number of groups.

    Returns
    -------
    ndarray
        NaN for a group without which the sample of the balls has k points or fewer, or
        the other sample none.
    """
    pair = (candidates, references) if kind == "recall" else (references, candidates)
    centres, others = (side.by_group() for side in pair)
    of_centres = len(centres.groups) - np.bincount(centres.groups, minlength=count)
    of_others = len(others.groups) - np.bincount(others.groups, minlength=count)
    starts = np.searchsorted(others.groups, np.arange(count))

    # Balls without group g are all balls minus those around centres of g, except that
    # balls whose k-th neighbour lies in g become larger and may cover more points,
    # which ``extra`` counts.

    # balls around each of the others, by group of the centre
    covers = np.zeros((count, len(others.groups)), dtype=np.int64)
    # further balls without each group, because they become larger
    extra = np.zeros_like(covers)
    hits = np.zeros(count)
    for block in _blocks(centres.vectors, others.vectors):
        centre_groups = centres.groups[block.rows]
        radius, larger = _radii(block.to_centres, centre_groups, centres.groups, k)
        in_ball = block.to_others <= radius[:, None]
        if kind == "coverage":
            hits += _hits(
                block.to_others,
                in_ball,
                radius,
                larger,
                centre_groups,
                others.groups,
                starts,
                count,
            )
            continue

        # centres are in the order of their groups
        present = np.unique(centre_groups)
        first = np.searchsorted(centre_groups, present)
        covers[present] += np.add.reduceat(in_ball, first, axis=0, dtype=np.int64)
        for groups, wider in larger:
            row, column = np.nonzero((block.to_others <= wider[:, None]) & ~in_ball)
            np.add.at(extra, (groups[row], column), 1)

    with np.errstate(invalid="ignore", divide="ignore"):
        if kind == "coverage":
            values = hits / of_centres
        else:
            balls = covers.sum(axis=0) - covers + extra
            left = others.groups[None] != np.arange(count)[:, None]
            if kind == "density":
                sums = (balls * left).sum(axis=1) / k
            else:
                sums = ((balls > 0) & left).sum(axis=1)
            values = sums / of_others
    return np.where((of_centres > k) & (of_others > 0), values, np.nan)


def _blocks(centres: np.ndarray, others: np.ndarray) -> Iterator[_Block]:
    """Yield the distances of consecutive centres; equal points share one distance,
    so that ties are exact.
    """
    points = np.concatenate([centres, others]).astype(np.float32)
    distinct, inverse = distinct_points(points)
    half = half_squares(distinct)

    step = max(1, _BLOCK_BYTES // (4 * len(distinct)))
    for start in range(0, len(centres), step):
        rows = slice(start, min(start + step, len(centres)))
        values = half - distinct[inverse[rows]] @ distinct.T
        # Balls are wider by the rounding errors of distances, which are taken from
        # those to the other sample.
        yield _Block(
            rows,
            values[:, inverse[: len(centres)]],
            values[:, inverse[len(centres) :]] - rounding_errors(half),
        )


def _radii(
    distances: np.ndarray, own: np.ndarray, groups: np.ndarray, k: int
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the radii of balls, shape (R,),
    and the larger ones without a group of neighbours.

    The latter are a list of pairs (groups, radii), both of shape (R,): without the
    group, the ball of the row has that radius. Rows without a further group have the
    radius of the ball.
    """
    # Without a group the k-th neighbour is further down the row: a few more neighbours
    # suffice in nearly all rows.
    number = min(k + 1 + _MORE, distances.shape[1])
    limit = kth_smallest(distances, number)
    row, column = np.nonzero(distances <= limit[:, None])
    value = distances[row, column]
    of = groups[column]
    order = np.lexsort((value, row))
    row = row[order]
    value = value[order]
    of = of[order]
    starts = np.searchsorted(row, np.arange(len(distances)))
    rank_in_row = np.arange(len(row)) - starts[row]
    near = rank_in_row < number  # of equal values any will do
    values = value[near].reshape(-1, number)
    of_values = of[near].reshape(-1, number)
    if number <= k:
        return np.full(len(distances), np.inf, dtype=distances.dtype), []

    radius = values[:, k]
    larger = list[tuple[np.ndarray, np.ndarray]]()
    for j in range(k + 1):
        group = of_values[:, j]
        new = (group != own) & ~(of_values[:, :j] == group[:, None]).any(axis=1)

        # Neighbours outside the group are counted until the k-th (the centre itself is
        # entry 0).
        rank = np.cumsum(of_values != group[:, None], axis=1)
        at = (rank > k).argmax(axis=1)[:, None]
        wider = np.take_along_axis(values, at, axis=1)[:, 0]

        # the few rows whose neighbours beyond k were not enough
        for i in np.flatnonzero(new & (rank[:, -1] <= k)):
            remaining = distances[i, groups != group[i]]
            wider[i] = np.partition(remaining, k)[k] if len(remaining) > k else np.inf
        larger.append((np.where(new, group, own), np.where(new, wider, radius)))
    return radius, larger


def _hits(
    to_others: np.ndarray,
    in_ball: np.ndarray,
    radius: np.ndarray,
    larger: list[tuple[np.ndarray, np.ndarray]],
    own: np.ndarray,
    other_groups: np.ndarray,
    starts: np.ndarray,
    count: int,
) -> np.ndarray:
    """Return the number of centres whose ball holds one of the others,
    without each group, shape (count,).
    """
    hit = _outside(in_ball, other_groups, starts, count)
    rows = np.arange(len(own))
    for groups, wider in larger:
        in_wider = to_others <= wider[:, None]
        outside = _outside(in_wider, other_groups, starts, count)
        hit[rows, groups] |= outside[rows, groups]
    # a centre of the group itself does not count
    hit[rows, own] = False
    return hit.sum(axis=0).astype(np.float64)


def _outside(
    in_ball: np.ndarray, groups: np.ndarray, starts: np.ndarray, count: int
) -> np.ndarray:
    """Return whether each row holds a point outside each group, bool (rows, count);
    columns are in the order of ``groups``.
    """
    present = np.unique(groups)
    by_group = np.zeros((len(in_ball), count), dtype=np.int64)
    by_group[:, present] = np.add.reduceat(
        in_ball, starts[present], axis=1, dtype=np.int64
    )
    return by_group.sum(axis=1, keepdims=True) > by_group
