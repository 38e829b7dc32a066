"""Distance between the variability of candidates and that of references, as distributions of pairwise distances."""

from __future__ import annotations

from typing import Literal

import numpy as np

Compare = Literal["within", "cross"]

_LABELS = 1 << 10
"""Relabelings evaluated at once, for arrays that stay in the cache."""


def wasserstein(distances: np.ndarray, labels: np.ndarray, compare: Compare = "within") -> np.ndarray:
    """Return the Wasserstein-1 distance between two distributions of pairwise distances, under labels.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances; a pair of texts has the mean of its two directions.
    labels : ndarray, shape (P, N)
        Bool, True for a candidate.
    compare : {'within', 'cross'}
        Pairs of candidates (``within``), or pairs of a candidate and a reference (``cross``), against pairs of references.

    Returns
    -------
    ndarray, shape (B, P)
        At least 0, in the unit of the distances.

    References
    ----------
    Giulianelli et al. 2023, *What Comes Next? Evaluating Uncertainty in Neural Text Generators Against Human Production Variability*,
    section 3.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 0.0, 3.0])
    >>> wasserstein(abs(points[:, None] - points)[None], np.array([[True, True, False, False]])).tolist()
    [[2.0]]
    """
    labels = np.asarray(labels, dtype=bool)
    first, second = np.triu_indices(distances.shape[1], 1)
    pairs = 0.5 * (distances + distances.transpose(0, 2, 1))[:, first, second]
    out = np.empty((len(distances), len(labels)))
    for row, values in enumerate(pairs):
        order = np.argsort(values, kind="stable")
        gaps = np.diff(values[order])
        a, b = first[order], second[order]
        for start in range(0, len(labels), _LABELS):
            part = labels[start : start + _LABELS]
            left, right = part[:, a], part[:, b]
            model = left & right if compare == "within" else left != right
            human = ~(left | right)
            difference = _cumulated(model) - _cumulated(human)
            out[row, start : start + _LABELS] = np.abs(difference[:, :-1]) @ gaps
    return out


def _cumulated(mask: np.ndarray) -> np.ndarray:
    """Return the distribution function of the marked pairs (P, pairs) at each pair, shape (P, pairs)."""
    counts = np.cumsum(mask, axis=1, dtype=np.int32)
    return counts / counts[:, -1:]


def means(distances: np.ndarray, n: int) -> np.ndarray:
    """Return the mean distance of two candidates and that of two references, shape (B, 2), with the n candidates first."""
    sides = [distances[:, :n, :n], distances[:, n:, n:]]
    return np.stack([part.sum(axis=(1, 2)) / max(1, part.shape[1] * (part.shape[1] - 1)) for part in sides], axis=1)
