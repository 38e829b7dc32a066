"""Precision, recall, density and coverage of two corpora of vectors.

The statistics are those of :mod:`harness_metrics.sets.neighbours`, under the Euclidean
distance and without a matrix of all distances.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from harness.encoders.pair_products import reduce_products
from harness.stats import ties
from harness_metrics.sets.neighbours import Kind

_BLOCK_BYTES = 128 << 20
"""Size of a block of distances of a corpus."""
_GROUPS = 64
"""Groups of distances of which the smallest are compared first."""


def of_corpora(
    candidates: np.ndarray,
    references: np.ndarray,
    k: int,
    kind: Kind,
    device: str | None = None,
) -> float:
    """Return a statistic of two corpora of vectors under the Euclidean distance.

    Distances are float32, blocks of all pairs are never stored, and each distance is
    computed once, so that equal vectors tie exactly. Other distances are equal within
    :func:`rounding_errors`.

    Parameters
    ----------
    candidates, references : ndarray, shapes (n, d) and (m, d)
        Vectors.
    k : int
        Neighbour that a ball reaches; smaller than the sample whose balls are used.
    kind : {'precision', 'recall', 'density', 'coverage'}
        Statistic.
    device : str, optional
        Accelerator that computes the distances; without it numpy does.

    Returns
    -------
    float
        In [0, 1]; density is at least 0. NaN if the sample of the balls has k vectors
        or fewer.

    References
    ----------
    Kynkaanniemi et al. 2019, section 2; Naeem et al. 2020, equations 4 and 5.
    """
    centres, others = references, candidates
    if kind == "recall":
        centres, others = candidates, references
    if len(centres) <= k or not len(others):
        return float("nan")

    if device is not None:
        hits, counts = _count_on_device(centres, others, k, device)
    elif kind in ("precision", "recall"):
        return float(np.count_nonzero(_find_members(centres, others, k)) / len(others))
    else:
        hits, counts = _count(centres, others, k)

    if kind in ("precision", "recall"):
        return float(np.count_nonzero(counts) / len(others))
    if kind == "coverage":
        return hits / len(centres)
    return float(counts.sum() / (k * len(others)))


def _find_members(centres: np.ndarray, others: np.ndarray, k: int) -> np.ndarray:
    """Return True for each of the others, shape (n,), that lies in the ball of some
    centre; those that do are not looked at again.
    """
    points = np.concatenate([centres, others]).astype(np.float32)
    distinct, inverse = distinct_points(points)
    half = half_squares(distinct)
    of_centres = inverse[: len(centres)]
    of_others = inverse[len(centres) :]
    first = int(of_centres.max()) + 1  # distinct centres, which come first
    # repeated centres count as often as they occur among the neighbours of a centre
    spheres = of_centres if first < len(centres) else slice(first)
    # centres that are also among the others
    shared = np.unique(of_others[of_others < first])

    covered = np.zeros(len(distinct), dtype=bool)
    columns = np.arange(len(distinct))
    table = distinct
    step = max(1, _BLOCK_BYTES // (4 * len(distinct)))
    for start in range(0, first, step):
        block = half[columns] - distinct[start : min(start + step, first)] @ table.T

        # The centre itself has distance 0 and comes first, so that its k-th neighbour
        # is entry k + 1.
        radius = kth_smallest(block[:, spheres], k + 1)[:, None] + rounding_errors(half)
        # A point of the other sample that equals a centre lies in that centre's own
        # column.
        covered[shared] |= (block[:, shared] <= radius).any(axis=0)
        covered[columns[first:]] |= (block[:, first:] <= radius).any(axis=0)

        uncovered = columns[first:][~covered[columns[first:]]]
        # Most points are found in few blocks. The table shrinks when a fifth is done;
        # copying it each time would cost more than it saves.
        if len(uncovered) < 0.8 * (len(columns) - first):
            columns = np.concatenate([columns[:first], uncovered])
            table = distinct[columns]
    return covered[of_others]


def _count(centres: np.ndarray, others: np.ndarray, k: int) -> tuple[int, np.ndarray]:
    """Return the number of centres whose ball holds one of the others, and the number
    of balls around each of the others, int64, shape (n,).
    """
    counts = np.zeros(len(others), dtype=np.int64)
    hits = 0
    for in_ball in _blocks(centres, others, k):
        hits += int(np.count_nonzero(in_ball.any(axis=1)))
        counts += in_ball.sum(axis=0)
    return hits, counts


def _blocks(centres: np.ndarray, others: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield whether each of the others lies in the balls of some centres,
    bool (rows, others).
    """
    points = np.concatenate([centres, others]).astype(np.float32)
    distinct, inverse = distinct_points(points)
    half = half_squares(distinct)
    of_centres = inverse[: len(centres)]
    of_others = inverse[len(centres) :]

    # Equal centres have equal balls; their distances to all distinct points are
    # computed once.
    representatives, back = np.unique(of_centres, return_inverse=True)
    copies = np.bincount(back)
    is_repeated = copies.max() > 1

    step = max(1, _BLOCK_BYTES // (4 * len(distinct)))
    for start in range(0, len(representatives), step):
        rows = representatives[start : start + step]
        # |x|^2 / 2 - <x, c> orders the points around c as their distances do
        block = half - distinct[rows] @ distinct.T
        neighbours = block[:, of_centres if is_repeated else representatives]
        radius = kth_smallest(neighbours, k + 1)
        in_ball = block <= radius[:, None] + rounding_errors(half)

        in_ball = in_ball[:, of_others]
        if is_repeated:
            in_ball = np.repeat(in_ball, copies[start : start + step], axis=0)
        yield in_ball


def _count_on_device(
    centres: np.ndarray, others: np.ndarray, k: int, device: str
) -> tuple[int, np.ndarray]:
    """Return :func:`_count` by distances that an accelerator computes."""
    points = np.concatenate([centres, others]).astype(np.float32)
    distinct, inverse = distinct_points(points)
    half = half_squares(distinct)
    of_centres = inverse[: len(centres)]
    of_others = inverse[len(centres) :]
    error = float(rounding_errors(half))

    # Distinct points are in the order of their first occurrence: those of the centres
    # are the first ones, each with the number of its copies.
    copies = np.bincount(of_centres)
    is_repeated = copies.max() > 1

    def reduce(rows: slice, products: Any) -> tuple[slice, Any, Any]:
        torch: Any = import_module("torch")

        def move(array: np.ndarray) -> Any:
            return torch.from_numpy(array).to(products.device)

        block = products.neg_().add_(move(half))
        neighbours = block[:, : len(copies)]
        if is_repeated:
            neighbours = block[:, move(of_centres)]
        radius = neighbours.topk(k + 1, dim=1, largest=False).values[:, -1:]
        in_ball = (block <= radius + error)[:, move(of_others)]

        counts = in_ball.sum(dim=0)
        if is_repeated:  # whole numbers below 2^24, which float32 adds exactly
            counts = move(copies[rows].astype(np.float32)) @ in_ball.float()
        return rows, in_ball.any(dim=1).cpu().numpy(), counts.cpu().numpy()

    hits = 0
    counts = np.zeros(len(others), dtype=np.int64)
    for rows, is_hit, of_block in reduce_products(
        distinct[: len(copies)], distinct, reduce, device, "distances of two corpora"
    ):
        hits += int(copies[rows][is_hit].sum())
        counts += of_block.astype(np.int64)
    return hits, counts


def half_squares(points: np.ndarray) -> np.ndarray:
    """Return half the squared lengths (N,) of points (N, d): less the product with a
    centre, they order the points around it.
    """
    return 0.5 * np.einsum("nd,nd->n", points, points)


def rounding_errors(half: np.ndarray) -> np.floating:
    """Return the largest difference that rounding makes between equal distances, for
    half the squared lengths (N,) of the points.
    """
    return half.dtype.type(ties.tolerance(float(half.max()), ties.FLOAT32))


def distinct_points(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of points (N, d), in the order of their first
    occurrence, and the row of each point, shape (N,).
    """
    rows: dict[bytes, int] = {}
    inverse = np.array(
        [rows.setdefault(point.tobytes(), len(rows)) for point in points]
    )
    first = np.full(len(rows), len(points))
    np.minimum.at(first, inverse, np.arange(len(points)))
    return points[first], inverse


def kth_smallest(block: np.ndarray, k: int) -> np.ndarray:
    """Return the k-th smallest entry of each row of a block, shape (rows,).

    The k smallest entries lie in the k groups of columns with the smallest minima.
    """
    rows, width = block.shape
    groups = width // _GROUPS
    if groups <= 4 * k:
        return np.partition(block, k - 1, axis=1)[:, k - 1]

    cut = groups * _GROUPS
    # The k smallest entries lie in at most k groups, and those have the k smallest
    # minima: a partition of few minima replaces one of the whole row.
    grouped = block[:, :cut].reshape(rows, _GROUPS, groups)
    smallest = np.argpartition(grouped.min(axis=1), k - 1, axis=1)[:, :k]
    few = np.take_along_axis(grouped, smallest[:, None, :], axis=2).reshape(rows, -1)
    rest = np.concatenate([few, block[:, cut:]], axis=1)
    return np.partition(rest, k - 1, axis=1)[:, k - 1]
