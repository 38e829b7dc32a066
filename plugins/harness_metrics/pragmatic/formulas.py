"""The pragmatic scores of the paper as arithmetic on counts (Tsvilodub & Franke 2023,
section 2.2).

A caption describes a target among one or several distractors. ``k`` is the number of
features that it mentions and that are true of the target, ``c`` the number of those
that are contrastive, that is, false of some distractor, and ``z`` the number of
features in which the target differs from some distractor. All functions accept and
return arrays of shape ``(N,)``; NaN means undefined.
"""

from __future__ import annotations

from functools import cache

import numpy as np


def discriminativity(c: np.ndarray) -> np.ndarray:
    """Return 1 for a caption that mentions a contrastive feature, else 0, ``(N,)``.

    For several distractors, ``c`` must be positive only when the caption excludes all
    of them.

    >>> discriminativity(np.array([0, 2])).tolist()
    [0.0, 1.0]
    """
    return (np.asarray(c) > 0).astype(np.float64)


def contrastive_efficiency(
    c: np.ndarray, k: np.ndarray, needed: np.ndarray | int = 1
) -> np.ndarray:
    """Return 1 - (c - 1) / (k - 1), or 1 for k = c = 1, ``(N,)`` in [0, 1];
    NaN for c = 0.

    Parameters
    ----------
    c, k : ndarray
        Counts ``(N,)``; for several distractors, c must be 0 unless the caption
        excludes all of them.
    needed : ndarray or int, default 1
        Smallest number of features that excludes all distractors, in place of 1; one
        distractor needs at most 1.

    Examples
    --------
    >>> contrastive_efficiency(np.array([1, 2, 0]), np.array([3, 3, 3])).tolist()
    [1.0, 0.5, nan]
    """
    c, k, needed = (np.asarray(value, dtype=np.float64) for value in (c, k, needed))
    c, k, needed = np.broadcast_arrays(c, k, needed)
    spare = np.where(k > needed, k - needed, 1.0)
    return np.where(c > 0, 1.0 - (c - needed) / spare, np.nan)


def relevance(c: np.ndarray | int, k: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return 1 - (k - c) / (6 - z), one minus the share of common features that are
    mentioned, ``(N,)``; NaN for z = 6.

    >>> relevance(np.array([1, 1]), np.array([3, 1]), np.array([2, 6])).tolist()
    [0.5, nan]
    """
    c, k, z = (np.asarray(value, dtype=np.float64) for value in (c, k, z))
    shared = np.where(z < 6, 6.0 - z, 1.0)
    return np.where(z < 6, 1.0 - (k - c) / shared, np.nan)


def optimal_discriminativity(c: np.ndarray, needed: np.ndarray | int = 1) -> np.ndarray:
    """Return 1 for a caption with exactly the needed number of contrastive features,
    else 0, ``(N,)``.
    """
    c, needed = np.broadcast_arrays(np.asarray(c), np.asarray(needed))
    return ((c == needed) & (needed > 0)).astype(np.float64)


@cache
def _subsets() -> np.ndarray:
    """Return all subsets of the six features, bool ``(64, 6)``, the smallest first."""
    subsets = (np.arange(64)[:, None] >> np.arange(6) & 1).astype(bool)
    return subsets[np.argsort(subsets.sum(1), kind="stable")]


def features_needed(differs: np.ndarray) -> np.ndarray:
    """Return the size of the smallest set of features that excludes every distractor,
    ``(N,)``; 0 when no set does.

    ``differs`` ``(N, D, 6)`` is True for features in which a distractor differs from
    the target.
    """
    if differs.shape[1] == 1:
        return (differs.sum(axis=(1, 2)) > 0).astype(np.int64)

    # Sixty-four subsets are few enough to try all, in order of size; the first that
    # excludes every distractor is a smallest one. (N, 64)
    excludes = np.any(differs[:, :, None, :] & _subsets(), axis=-1)
    ruled_out: np.ndarray = np.all(excludes, axis=1)
    sizes = _subsets().sum(1)[ruled_out.argmax(1)]
    return np.where(np.any(ruled_out, axis=1), sizes, 0)
