"""Statistics of balls around the points of two corpora without each of some groups of
points, from one pass over the distances.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from harness_metrics.sets.group_blocks import (
    Block,
    Sample,
    numpy_blocks,
    reduce_device_blocks,
)
from harness_metrics.sets.neighbours import Kind

_MORE = 24
"""Neighbours beyond k of which the ball without a group is formed;
a row that needs more is sorted.
"""


def without_groups(
    candidates: Sample,
    references: Sample,
    k: int,
    kind: Kind,
    count: int,
    device: str | None = None,
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
    device : str, optional
        Accelerator that computes the distances; without it numpy does.

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

    width = 0 if kind == "coverage" else len(others.groups)
    add = partial(_add_block, groups=centres.groups, k=k, kind=kind)
    sums = _Sums.none(count, width)
    if device is None:
        for block in numpy_blocks(centres, others, count):
            add(sums, block)
    else:

        def sum_block(block: Block) -> _Sums:
            of_block = _Sums.none(count, width)
            add(of_block, block)
            return of_block

        for of_block in reduce_device_blocks(centres, others, count, sum_block, device):
            for total, numbers in zip(sums, of_block):
                total += numbers

    with np.errstate(invalid="ignore", divide="ignore"):
        if kind == "coverage":
            values = sums.hits / of_centres
        else:
            balls = sums.covers.sum(axis=0) - sums.covers + sums.extra
            left = others.groups[None] != np.arange(count)[:, None]
            if kind == "density":
                inside = (balls * left).sum(axis=1) / k
            else:
                inside = ((balls > 0) & left).sum(axis=1)
            values = inside / of_others
    return np.where((of_centres > k) & (of_others > 0), values, np.nan)


class _Sums(NamedTuple):
    """Numbers of balls, summed over centres.

    Balls without group g are all balls minus those around centres of g, except that
    balls whose k-th neighbour lies in g become larger and may cover more points, which
    ``extra`` counts.
    """

    covers: np.ndarray
    """Balls around each of the others, by group of the centre, shape (count, n)."""
    extra: np.ndarray
    """Further balls without each group, because they become larger."""
    hits: np.ndarray
    """Centres whose ball holds one of the others, without each group, (count,)."""

    @classmethod
    def none(cls, count: int, others: int) -> _Sums:
        """Return the numbers of no centre."""
        covers = np.zeros((count, others), dtype=np.int64)
        return cls(covers, np.zeros_like(covers), np.zeros(count))


def _add_block(
    sums: _Sums, block: Block, *, groups: np.ndarray, k: int, kind: Kind
) -> None:
    """Add the numbers of the balls around the centres of a block, for the groups (C,)
    of all centres.
    """
    own = groups[block.rows]
    radius, larger = _radii(block, own, len(groups), k)
    if kind == "coverage":
        np.add(sums.hits, _hits(block, radius, larger, own), out=sums.hits)
        return

    block.draw_balls(radius)
    block.add_balls(sums.covers, own)
    for without, wider in larger:
        block.add_larger_balls(sums.extra, without, wider)


def _radii(
    block: Block, own: np.ndarray, centres: int, k: int
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the radii of balls, shape (R,),
    and the larger ones without a group of neighbours.

    The latter are a list of pairs (groups, radii), both of shape (R,): without the
    group, the ball of the row has that radius. Rows without a further group have the
    radius of the ball.
    """
    # Without a group the k-th neighbour is further down the row: a few more neighbours
    # suffice in nearly all rows.
    number = min(k + 1 + _MORE, centres)
    values, of_values = block.nearest(number)
    if number <= k:
        return np.full(len(own), np.inf, dtype=values.dtype), []

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
            remaining = block.outside_group(int(i), int(group[i]))
            wider[i] = np.partition(remaining, k)[k] if len(remaining) > k else np.inf
        larger.append((np.where(new, group, own), np.where(new, wider, radius)))
    return radius, larger


def _hits(
    block: Block,
    radius: np.ndarray,
    larger: list[tuple[np.ndarray, np.ndarray]],
    own: np.ndarray,
) -> np.ndarray:
    """Return the number of centres whose ball holds one of the others,
    without each group, shape (count,).
    """
    hit = _is_outside(block.count_in_balls(radius))
    rows = np.arange(len(own))
    for groups, wider in larger:
        outside = _is_outside(block.count_in_balls(wider))
        hit[rows, groups] |= outside[rows, groups]
    # a centre of the group itself does not count
    hit[rows, own] = False
    return hit.sum(axis=0).astype(np.float64)


def _is_outside(by_group: np.ndarray) -> np.ndarray:
    """Return whether each ball holds a point outside each group, bool (rows, count),
    for the numbers of its points of each group.
    """
    return by_group.sum(axis=1, keepdims=True) > by_group
