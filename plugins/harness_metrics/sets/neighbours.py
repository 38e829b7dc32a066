"""Precision, recall, density and coverage of two samples by balls around their points.

The ball of a point reaches to its k-th nearest other point of its own sample, the
boundary included. With candidates C and references R,

    precision = share of C inside the ball of some reference
    recall    = share of R inside the ball of some candidate
    density   = mean over C of the number of references' balls / k
    coverage  = share of R whose ball holds a candidate

Kynkaanniemi et al. 2019, *Improved Precision and Recall Metric for Assessing Generative
Models* (precision, recall); Naeem et al. 2020, *Reliable Fidelity and Diversity Metrics
for Generative Models* (density, coverage). Their programs exclude the boundary, which
matters for equal distances alone: with it, a candidate equal to a repeated reference
lies in the ball of that reference. Distances that differ by rounding errors are equal,
since a processor would decide otherwise whether a point lies on the boundary or beyond
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from harness_metrics.bases.relabeled_metric import evaluate_labels
from harness_metrics.kernel.geometry import merge_close

Kind = Literal["precision", "recall", "density", "coverage"]
KINDS: tuple[Kind, ...] = ("precision", "recall", "density", "coverage")

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""


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
    Two candidates and three references:

    >>> points = np.array([0.0, 1.0, 0.5, 9.0, 10.0])
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
        ranks = np.broadcast_to(np.arange(size - 1), (size, size - 1))
        np.put_along_axis(position, order[:, 1:], ranks, axis=1)
        return cls(order[:, 1:], first, position.T)


def _members(balls: _Balls, labels: np.ndarray, k: int) -> np.ndarray:
    """Return whether text x lies in the ball of text j of the other sample, bool (P, N,
    N) over (x, j).
    """
    same = labels[:, balls.order] == labels[:, :, None]  # [p, j, position]

    # x lies in the ball of j when fewer than k texts of j's sample are strictly nearer
    # to j than x. With texts ranked by distance, their number is a running sum, read at
    # the first text that ties with x.
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
    elif kind == "density":
        values = members.sum(axis=2) / k
    else:
        values = members.any(axis=2)
    return (values * counted).sum(axis=1) / counted.sum(axis=1)
