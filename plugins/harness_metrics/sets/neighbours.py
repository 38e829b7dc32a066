"""Precision, recall, density and coverage of two samples by balls around their points.

The ball of a point reaches to its k-th nearest other point of its own sample, the
boundary included. With candidates C and references R,

    precision = share of C inside the ball of some reference        recall   = share of R inside the ball of some candidate
    density   = mean over C of the number of references' balls / k  coverage = share of R whose ball holds a candidate

Kynkaanniemi et al. 2019, *Improved Precision and Recall Metric for Assessing Generative
Models* (precision, recall); Naeem et al. 2020, *Reliable Fidelity and Diversity Metrics
for Generative Models* (density, coverage). Their programs exclude the boundary, which
matters for equal distances alone: with it, a candidate equal to a repeated reference
lies in the ball of that reference. Distances that differ by rounding errors are equal,
since a processor would decide otherwise whether a point lies on the boundary or beyond
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from harness.stats import ties
from harness_metrics.bases.metrics import evaluate_labels
from harness_metrics.kernel.geometry import merge_close

Kind = Literal["precision", "recall", "density", "coverage"]
KINDS: tuple[Kind, ...] = ("precision", "recall", "density", "coverage")

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""
_BLOCK_BYTES = 128 << 20
"""Size of a block of distances of a corpus."""
_GROUPS = 64
"""Groups of distances of which the smallest are compared first."""


# --------------------------------------------------------------------------- matrices of distances
def of_distances(
    distances: np.ndarray, labels: np.ndarray, k: int, kind: Kind
) -> np.ndarray:
    """Return a statistic of samples given by their distances, under labels.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances; entry (x, j) places text x in the ball of text j.
    labels : ndarray, shape (P, N)
        Bool, True for a candidate; each label has more than k texts in the sample whose
        balls the statistic uses.
    k : int
        Neighbour that a ball reaches.
    kind : {'precision', 'recall', 'density', 'coverage'}
        Statistic.

    Returns
    -------
    ndarray, shape (B, P)
        In [0, 1]; density is at least 0.

    Examples
    --------
    >>> points = np.array(
    ...     [0.0, 1.0, 0.5, 9.0, 10.0]
    ... )  # two candidates, three references
    >>> two_first = np.array([[True, True, False, False, False]])
    >>> [
    ...     of_distances(abs(points[:, None] - points)[None], two_first, 1, kind).item()
    ...     for kind in KINDS[:2]
    ... ]
    [1.0, 0.3333333333333333]
    """

    def prepare(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        balls = _Balls.of(matrix)
        return lambda labels: _statistic(_members(balls, labels, k), labels, k, kind)

    return evaluate_labels(merge_close(distances), labels, _LABELS, prepare)


def coverage_credits(distances: np.ndarray, n: int, k: int) -> np.ndarray:
    """Return the coverage of n candidates less that without candidate i, shape (B,
    n), in [0, 1].

    It is the share of the references whose ball holds candidate i and no other.
    Arguments as for :func:`of_distances`, with more than k references.
    """
    distances = merge_close(distances)
    between = distances[:, n:, n:].copy()
    # a text is no neighbour of itself
    between[:, np.arange(between.shape[-1]), np.arange(between.shape[-1])] = np.inf
    radius = np.partition(between, k - 1, axis=1)[:, k - 1]
    in_ball = distances[:, :n, n:] <= radius[:, None]
    return (in_ball & (in_ball.sum(axis=1, keepdims=True) == 1)).mean(axis=2)


class _Balls(NamedTuple):
    """Order of the texts around each text j of one example."""

    order: np.ndarray
    """Other texts by their distance to j, shape (N, N - 1)."""
    first: np.ndarray
    """Position of the first text of equal distance, shape (N, N - 1)."""
    position: np.ndarray
    """Position of text x around j, shape (N, N) over (x, j); 0 for x = j."""

    @classmethod
    def of(cls, matrix: np.ndarray) -> _Balls:
        size = len(matrix)
        distances = matrix.T.copy()  # [j, x]
        np.fill_diagonal(distances, -np.inf)
        order = np.argsort(distances, axis=1, kind="stable")
        ranked = np.take_along_axis(distances, order, axis=1)[:, 1:]
        new = np.ones(ranked.shape, dtype=bool)
        new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
        first = np.maximum.accumulate(np.where(new, np.arange(size - 1), 0), axis=1)
        position = np.zeros((size, size), dtype=np.intp)
        np.put_along_axis(
            position,
            order[:, 1:],
            np.broadcast_to(np.arange(size - 1), (size, size - 1)),
            axis=1,
        )
        return cls(order[:, 1:], first, position.T)


def _members(balls: _Balls, labels: np.ndarray, k: int) -> np.ndarray:
    """Return whether text x lies in the ball of text j of the other sample, bool (P, N,
    N) over (x, j).
    """
    same = labels[:, balls.order] == labels[:, :, None]  # [p, j, position]
    # x lies in the ball of j when fewer than k texts of j's sample are strictly nearer
    # to j than x. With texts ranked by distance, their number is a running sum, read at
    # the first text that ties with x. texts of the sample of j at an earlier position
    before = np.cumsum(same, axis=2, dtype=np.int16) - same
    size: int = labels.shape[1]
    j = np.arange(size)
    in_ball = before[:, j[:, None], balls.first] < k
    at = in_ball[:, j[None, :], balls.position]
    return at & (labels[:, :, None] != labels[:, None, :])


def _statistic(
    members: np.ndarray, labels: np.ndarray, k: int, kind: Kind
) -> np.ndarray:
    """Return the statistic (P,) of the memberships (P, N, N) of text x in the ball of
    text j.
    """
    counted = labels if kind in ("precision", "density") else ~labels
    if kind == "coverage":
        values = members.any(axis=1)  # the ball of j holds a text of the other sample
    else:
        values = members.sum(axis=2) / k if kind == "density" else members.any(axis=2)
    return (values * counted).sum(axis=1) / counted.sum(axis=1)


# --------------------------------------------------------------------------- corpora of vectors
def of_corpora(
    candidates: np.ndarray, references: np.ndarray, k: int, kind: Kind
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

    Returns
    -------
    float
        In [0, 1]; density is at least 0. NaN if the sample of the balls has k vectors
        or fewer.

    References
    ----------
    Kynkaanniemi et al. 2019, section 2; Naeem et al. 2020, equations 4 and 5.
    """
    centres, others = (
        (candidates, references) if kind == "recall" else (references, candidates)
    )
    if len(centres) <= k or not len(others):
        return float("nan")
    if kind in ("precision", "recall"):
        return float(np.count_nonzero(_find_members(centres, others, k)) / len(others))
    counts = np.zeros(len(others), dtype=np.int64)
    hits = 0
    for in_ball in _blocks(centres, others, k):
        hits += int(np.count_nonzero(in_ball.any(axis=1)))
        counts += in_ball.sum(axis=0)
    if kind == "coverage":
        return hits / len(centres)
    return float(counts.sum() / (k * len(others)))


def _find_members(centres: np.ndarray, others: np.ndarray, k: int) -> np.ndarray:
    """Return True for each of the others, shape (n,), that lies in the ball of some
    centre; those that do are not looked at again.
    """
    distinct, inverse = distinct_points(
        np.concatenate([centres, others]).astype(np.float32)
    )
    half = half_squares(distinct)
    first = int(inverse[: len(centres)].max()) + 1  # distinct centres, which come first
    spheres = inverse[: len(centres)] if first < len(centres) else slice(first)
    # centres that are also among the others
    shared = np.unique(inverse[len(centres) :][inverse[len(centres) :] < first])
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
    return covered[inverse[len(centres) :]]


def _blocks(centres: np.ndarray, others: np.ndarray, k: int) -> Iterator[np.ndarray]:
    """Yield whether each of the others lies in the balls of some centres,
    bool (rows, others).
    """
    points = np.concatenate([centres, others]).astype(np.float32)
    distinct, inverse = distinct_points(points)
    half = half_squares(distinct)
    # Equal centres have equal balls; their distances to all distinct points are
    # computed once.
    representatives, back = np.unique(inverse[: len(centres)], return_inverse=True)
    copies = np.bincount(back)
    step = max(1, _BLOCK_BYTES // (4 * len(distinct)))
    for start in range(0, len(representatives), step):
        rows = representatives[start : start + step]
        # |x|^2 / 2 - <x, c> orders the points around c as their distances do
        block = half - distinct[rows] @ distinct.T
        radius = kth_smallest(
            block[:, inverse[: len(centres)]]
            if copies.max() > 1
            else block[:, representatives],
            k + 1,
        )
        in_ball = (block <= radius[:, None] + rounding_errors(half))[
            :, inverse[len(centres) :]
        ]
        yield (
            np.repeat(in_ball, copies[start : start + step], axis=0)
            if copies.max() > 1
            else in_ball
        )


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
    return np.partition(np.concatenate([few, block[:, cut:]], axis=1), k - 1, axis=1)[
        :, k - 1
    ]
