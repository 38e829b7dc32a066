"""Blocks of distances between two corpora whose points are in groups: balls are drawn
around the centres of a block, in numpy or on an accelerator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from harness.encoders.pair_products import reduce_products
from harness_metrics.sets.corpus_neighbours import (
    distinct_points,
    half_squares,
    kth_smallest,
    rounding_errors,
)

R = TypeVar("R")

_BLOCK_BYTES = 64 << 20
"""Size of a block of distances in numpy."""


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


class Neighbours(NamedTuple):
    """Nearest points of some centres, nearest first."""

    distances: np.ndarray
    """Shape (R, number), float32."""
    groups: np.ndarray
    """Group of each neighbour, shape (R, number)."""


class Block(Protocol):
    """Distances of R centres to all C centres and all O others, which are in the order
    of their groups. Distances order the points around one centre alone.
    """

    rows: slice
    """Numbers of the centres."""

    def nearest(self, number: int) -> Neighbours:
        """Return the nearest centres, among them the centre itself."""
        ...

    def outside_group(self, row: int, group: int) -> np.ndarray:
        """Return the distances of a centre to the centres outside a group."""
        ...

    def draw_balls(self, radius: np.ndarray) -> None:
        """Keep which of the others lie in the balls of radius (R,)."""
        ...

    def count_in_balls(self, radius: np.ndarray) -> np.ndarray:
        """Return the number of others of each group in balls of radius (R,), int64,
        shape (R, count).
        """
        ...

    def add_balls(self, numbers: np.ndarray, groups: np.ndarray) -> None:
        """Add to ``numbers``, shape (count, O), the balls around each of the others, by
        the ascending groups (R,) of their centres.
        """
        ...

    def add_larger_balls(
        self, numbers: np.ndarray, groups: np.ndarray, radius: np.ndarray
    ) -> None:
        """Add to ``numbers``, shape (count, O), the balls of radius (R,) around each of
        the others that the drawn ball does not hold, by groups (R,).
        """
        ...


class NumpyBlock:
    """A :class:`Block` in numpy.

    Parameters
    ----------
    rows : slice
        Numbers of the centres.
    to_centres, to_others : ndarray, shapes (R, C) and (R, O)
        Distances.
    centre_groups, other_groups : ndarray, shapes (C,) and (O,)
        Groups, ascending.
    count : int
        Number of groups.
    """

    def __init__(
        self,
        rows: slice,
        to_centres: np.ndarray,
        to_others: np.ndarray,
        centre_groups: np.ndarray,
        other_groups: np.ndarray,
        count: int,
    ) -> None:
        self.rows = rows
        self.to_centres = to_centres
        self.to_others = to_others
        self.centre_groups = centre_groups
        self.other_groups = other_groups
        self.count = count
        self._in_ball = np.zeros(to_others.shape, dtype=bool)

    def nearest(self, number: int) -> Neighbours:
        """Return the nearest centres, among them the centre itself."""
        distances = self.to_centres
        limit = kth_smallest(distances, number)
        row, column = np.nonzero(distances <= limit[:, None])
        value = distances[row, column]
        order = np.lexsort((value, row))
        row = row[order]
        starts = np.searchsorted(row, np.arange(len(distances)))
        rank_in_row = np.arange(len(row)) - starts[row]
        near = order[rank_in_row < number]  # of equal values any will do
        return Neighbours(
            value[near].reshape(-1, number),
            self.centre_groups[column[near]].reshape(-1, number),
        )

    def outside_group(self, row: int, group: int) -> np.ndarray:
        """Return the distances of a centre to the centres outside a group."""
        return self.to_centres[row, self.centre_groups != group]

    def draw_balls(self, radius: np.ndarray) -> None:
        """Keep which of the others lie in the balls of radius (R,)."""
        self._in_ball = self.to_others <= radius[:, None]

    def count_in_balls(self, radius: np.ndarray) -> np.ndarray:
        """Return the number of others of each group in balls (R,), (R, count)."""
        in_ball = self.to_others <= radius[:, None]
        # columns are in the order of their groups
        present, starts = np.unique(self.other_groups, return_index=True)
        by_group = np.zeros((len(in_ball), self.count), dtype=np.int64)
        by_group[:, present] = np.add.reduceat(in_ball, starts, axis=1, dtype=np.int64)
        return by_group

    def add_balls(self, numbers: np.ndarray, groups: np.ndarray) -> None:
        """Add the balls around each of the others by the groups of their centres."""
        present, first = np.unique(groups, return_index=True)
        numbers[present] += np.add.reduceat(
            self._in_ball, first, axis=0, dtype=np.int64
        )

    def add_larger_balls(
        self, numbers: np.ndarray, groups: np.ndarray, radius: np.ndarray
    ) -> None:
        """Add the balls that hold what the drawn ones do not."""
        is_new = (self.to_others <= radius[:, None]) & ~self._in_ball
        row, column = np.nonzero(is_new)
        np.add.at(numbers, (groups[row], column), 1)


class DeviceBlock:
    """A :class:`Block` of tensors on an accelerator.

    Numbers of points are sums of ones in float32, exact below 2^24 in any order.
    Parameters are those of :class:`NumpyBlock`.
    """

    def __init__(
        self,
        rows: slice,
        to_centres: Any,
        to_others: Any,
        centre_groups: np.ndarray,
        other_groups: np.ndarray,
        count: int,
    ) -> None:
        self._torch: Any = import_module("torch")
        self.rows = rows
        self.to_centres = to_centres
        self.to_others = to_others
        self.centre_groups = centre_groups
        self.count = count
        self._members = self._one_hot(other_groups)
        self._in_ball: Any = None

    def nearest(self, number: int) -> Neighbours:
        """Return the nearest centres, among them the centre itself."""
        nearest = self.to_centres.topk(number, dim=1, largest=False, sorted=True)
        columns = nearest.indices.cpu().numpy()
        return Neighbours(nearest.values.cpu().numpy(), self.centre_groups[columns])

    def outside_group(self, row: int, group: int) -> np.ndarray:
        """Return the distances of a centre to the centres outside a group."""
        return self.to_centres[row].cpu().numpy()[self.centre_groups != group]

    def draw_balls(self, radius: np.ndarray) -> None:
        """Keep which of the others lie in the balls of radius (R,)."""
        self._in_ball = self._inside(radius)

    def count_in_balls(self, radius: np.ndarray) -> np.ndarray:
        """Return the number of others of each group in balls (R,), (R, count)."""
        return _whole(self._inside(radius).float() @ self._members)

    def add_balls(self, numbers: np.ndarray, groups: np.ndarray) -> None:
        """Add the balls around each of the others by the groups of their centres."""
        numbers += _whole(self._one_hot(groups).T @ self._in_ball.float())

    def add_larger_balls(
        self, numbers: np.ndarray, groups: np.ndarray, radius: np.ndarray
    ) -> None:
        """Add the balls that hold what the drawn ones do not."""
        is_new = self._inside(radius) & ~self._in_ball
        numbers += _whole(self._one_hot(groups).T @ is_new.float())

    def _inside(self, radius: np.ndarray) -> Any:
        limit = self._torch.from_numpy(np.ascontiguousarray(radius, np.float32))
        return self.to_others <= limit.to(self.to_others.device)[:, None]

    def _one_hot(self, groups: np.ndarray) -> Any:
        """Return 1 for the group of each point and 0 for others, (points, count)."""
        ones = (groups[:, None] == np.arange(self.count)).astype(np.float32)
        return self._torch.from_numpy(ones).to(self.to_others.device)


def _whole(numbers: Any) -> np.ndarray:
    """Return a tensor of whole numbers as int64."""
    return numbers.cpu().numpy().astype(np.int64)


class _Table:
    """Distinct points of two samples: equal points share one distance, so that ties are
    exact.
    """

    def __init__(self, centres: Sample, others: Sample, count: int) -> None:
        points = np.concatenate([centres.vectors, others.vectors]).astype(np.float32)
        self.distinct, inverse = distinct_points(points)
        self.half = half_squares(self.distinct)
        self.of_centres = inverse[: len(centres.groups)]
        self.of_others = inverse[len(centres.groups) :]
        # Balls are wider by the rounding errors of distances, which are taken from
        # those to the other sample.
        self.error = rounding_errors(self.half)
        self.groups = (centres.groups, others.groups, count)


def numpy_blocks(centres: Sample, others: Sample, count: int) -> Iterator[NumpyBlock]:
    """Yield the distances of consecutive centres of samples in the order of ``count``
    groups, in blocks of :data:`_BLOCK_BYTES`.
    """
    table = _Table(centres, others, count)
    distinct = table.distinct
    step = max(1, _BLOCK_BYTES // (4 * len(distinct)))
    for start in range(0, len(table.of_centres), step):
        rows = slice(start, min(start + step, len(table.of_centres)))
        values = table.half - distinct[table.of_centres[rows]] @ distinct.T
        yield NumpyBlock(
            rows,
            values[:, table.of_centres],
            values[:, table.of_others] - table.error,
            *table.groups,
        )


def reduce_device_blocks(
    centres: Sample,
    others: Sample,
    count: int,
    reduce: Callable[[DeviceBlock], R],
    device: str,
) -> Iterator[R]:
    """Yield what ``reduce`` leaves of the distances of consecutive centres, which an
    accelerator computes; see :func:`~harness.encoders.pair_products.reduce_products`.
    """
    table = _Table(centres, others, count)

    def of_products(rows: slice, products: Any) -> R:
        torch: Any = import_module("torch")

        def move(array: np.ndarray) -> Any:
            return torch.from_numpy(array).to(products.device)

        values = products.neg_().add_(move(table.half))
        block = DeviceBlock(
            rows,
            values[:, move(table.of_centres)],
            values[:, move(table.of_others)].sub_(float(table.error)),
            *table.groups,
        )
        return reduce(block)

    yield from reduce_products(
        table.distinct[table.of_centres],
        table.distinct,
        of_products,
        device,
        "distances of two corpora",
    )
