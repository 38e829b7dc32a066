"""Distance between the variability of candidates and that of references, as
distributions of pairwise distances.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from harness_metrics.bases.relabeled_metric import evaluate_labels

Compare = Literal["within", "cross"]

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""


def wasserstein(
    distances: np.ndarray, labels: np.ndarray, compare: Compare = "within"
) -> np.ndarray:
    """Return the Wasserstein-1 distance between two distributions of pairwise
    distances, under labels.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances; a pair of texts has the mean of its two directions.
    labels : ndarray, shape (P, N)
        Bool, True for a candidate.
    compare : {'within', 'cross'}
        Pairs of candidates (``within``), or pairs of a candidate and a reference
        (``cross``), against pairs of references.

    Returns
    -------
    ndarray, shape (B, P)
        At least 0, in the unit of the distances.

    References
    ----------
    Giulianelli et al. 2023, *What Comes Next? Evaluating Uncertainty in Neural Text
    Generators Against Human Production Variability*, section 3.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 0.0, 3.0])
    >>> wasserstein(
    ...     abs(points[:, None] - points)[None], np.array([[True, True, False, False]])
    ... ).tolist()
    [[2.0]]
    """
    first, second = np.triu_indices(distances.shape[1], 1)
    pairs = 0.5 * (distances + distances.transpose(0, 2, 1))[:, first, second]

    def prepare(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        a = first[order]
        b = second[order]

        def distance(labels: np.ndarray) -> np.ndarray:
            left = labels[:, a]
            right = labels[:, b]
            model = left & right if compare == "within" else left != right
            human = ~(left | right)
            # In one dimension the Wasserstein-1 distance is the area between the two
            # distribution functions.
            difference = _cumulate(model) - _cumulate(human)
            return (np.abs(difference[:, :-1]) * gaps).sum(axis=1)

        return distance

    return evaluate_labels(pairs, labels, _LABELS, prepare)


def _cumulate(mask: np.ndarray) -> np.ndarray:
    """Return the distribution function of the marked pairs (P, pairs) at each pair,
    shape (P, pairs).
    """
    counts = np.cumsum(mask, axis=1, dtype=np.int32)
    return counts / counts[:, -1:]


def means(distances: np.ndarray, n: int) -> np.ndarray:
    """Return the mean distance of two candidates and that of two references, shape (B,
    2), with the n candidates first.
    """
    side_means: list[np.ndarray] = []
    for block in (distances[:, :n, :n], distances[:, n:, n:]):
        pairs = block.shape[1] * (block.shape[1] - 1)
        # the diagonal is 0; one text has no pair
        side_means.append(block.sum(axis=(1, 2)) / max(1, pairs))
    return np.stack(side_means, axis=1)
