"""Many tests: adjusted p-values, and significance clusters as letters, which systems
share that are not told apart.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Sequence

import numpy as np


def holm(p: Sequence[float]) -> np.ndarray:
    """Return Holm's adjusted p-values, shape (k,), which control the family-wise error
    rate.

    NaN stays NaN and does not count.

    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values, order = _sort_p_values(p)
    k = len(order)
    adjusted = np.maximum.accumulate(values[order] * (k - np.arange(k)))
    return _restore_order(p, order, np.minimum(adjusted, 1.0))


def benjamini_hochberg_adjusted(p: Sequence[float]) -> np.ndarray:
    """Return Benjamini and Hochberg's adjusted p-values, shape (k,), which control the
    false discovery rate.

    NaN stays NaN and does not count.

    >>> benjamini_hochberg_adjusted([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    values, order = _sort_p_values(p)
    k = len(order)
    scaled = values[order] * k / (1 + np.arange(k))
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    return _restore_order(p, order, np.minimum(adjusted, 1.0))


def _sort_p_values(p: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (k,) and the positions of those that are not NaN, in increasing
    order.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    return values, order[~np.isnan(values[order])]


def _restore_order(
    p: Sequence[float], order: np.ndarray, adjusted: np.ndarray
) -> np.ndarray:
    out = np.full(len(p), np.nan)
    out[order] = adjusted
    return out


def cluster_letters(
    n_systems: int, different: Collection[tuple[int, int]]
) -> list[str]:
    """Return letters per system: two systems share a letter if and only if they are not
    significantly different.

    Systems are numbered from the best; the first letter belongs to the cluster of the
    best system.

    Parameters
    ----------
    n_systems : int
        Number of systems k.
    different : collection of pairs of int
        Pairs (i, j) that differ significantly, in any order.

    Returns
    -------
    list of str
        Length k. After ``z`` the letters are ``a1``, ``b1``, ... and are separated by
        blanks.

    References
    ----------
    Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons"
    (JCGS 2004): insert and absorb.

    Examples
    --------
    >>> cluster_letters(3, {(0, 2)})
    ['a', 'ab', 'b']
    """
    clusters: list[frozenset[int]] = [frozenset(range(n_systems))] if n_systems else []
    for i, j in sorted((min(pair), max(pair)) for pair in different):
        # Insert: a cluster that holds both becomes two, each without one of them.
        split: list[frozenset[int]] = []
        for cluster in clusters:
            if {i, j} <= cluster:
                split += [cluster - {i}, cluster - {j}]
            else:
                split.append(cluster)
        clusters = _maximal(split)

    clusters.sort(key=sorted)
    names = [_name(index) for index in range(len(clusters))]
    separator = "" if len(clusters) <= len(string.ascii_lowercase) else " "
    letters: list[str] = []
    for system in range(n_systems):
        of_system = [name for name, held in zip(names, clusters) if system in held]
        letters.append(separator.join(of_system))
    return letters


def _maximal(clusters: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Return the distinct clusters that no other cluster contains."""
    distinct = list(dict.fromkeys(clusters))
    return [
        cluster
        for cluster in distinct
        if cluster and not any(cluster < larger for larger in distinct)
    ]


def _name(index: int) -> str:
    letter = string.ascii_lowercase[index % 26]
    return letter if index < 26 else f"{letter}{index // 26}"
