"""Texts of one meaning as the connected components of a graph of small distances."""

from __future__ import annotations

import numpy as np

from caption_kernels import log


def components(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the meaning of each text: texts within the threshold in both directions,
    and all that are linked by such texts, share one.

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances.
    threshold : float
        Largest distance of two texts of one meaning.

    Returns
    -------
    ndarray, shape (B, N)
        Index of the first text of the same meaning, int64.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 5.0, 2.0])
    >>> components(abs(points[:, None] - points)[None], 1.0).tolist()
    [[0, 0, 2, 0]]
    """
    batch = len(distances)
    size = int(distances.shape[1])
    linked = np.maximum(distances, distances.transpose(0, 2, 1)) <= threshold
    linked |= np.eye(size, dtype=bool)

    # Each text takes the smallest index among those that it is linked to, and then that
    # of this text, until nothing changes: long chains shorten by half in each round.
    out = np.broadcast_to(np.arange(size), (batch, size)).copy()
    while True:
        smallest = np.where(linked, out[:, None, :], size).min(axis=2)
        smallest = np.take_along_axis(smallest, smallest, axis=1)
        if np.array_equal(smallest, out):
            return out
        out = smallest


def _members(meanings: np.ndarray) -> np.ndarray:
    """Return True where a text has a meaning, shape (B, N, N) over (text, meaning),
    for meanings (B, N).
    """
    size: int = meanings.shape[1]
    return meanings[:, :, None] == np.arange(size)


def entropy(meanings: np.ndarray) -> np.ndarray:
    """Return the entropy, in nats, of the shares of meanings (B, N) among the texts of
    each example, shape (B,).

    >>> entropy(np.array([[0, 0, 0, 0], [0, 1, 2, 3]])).round(4).tolist()
    [0.0, 1.3863]
    """
    shares = _members(meanings).mean(axis=1)
    return -(shares * log(np.where(shares > 0, shares, 1.0))).sum(axis=1) + 0.0


def measure_coverage(meanings: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of references whose meaning some candidate has, shape (B, P),
    for meanings (B, N) and labels (P, N).

    >>> measure_coverage(
    ...     np.array([[0, 1, 0, 0, 4]]), np.array([[True, True, False, False, False]])
    ... ).round(4).tolist()
    [[0.6667]]
    """
    labels = np.asarray(labels, dtype=np.float64)
    out = np.empty((len(meanings), len(labels)))
    for row, same in enumerate(_members(meanings)):
        reached = labels @ same > 0
        out[row] = (((1.0 - labels) @ same) * reached).sum(axis=1)
    return out / (1.0 - labels).sum(axis=1)
