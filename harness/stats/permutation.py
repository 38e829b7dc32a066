"""Relabelings of the texts of one example.

The null hypothesis is that candidates and references come from one distribution: every
choice of ``n`` of the ``N = n + m`` texts as candidates is then equally likely.
``labels`` are bool, shape (P, N), True for a candidate; the first row of an enumeration
is the identity (the first ``n`` texts are the candidates).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

_SHARED_BYTES = 64 << 20
"""Maximum size of a table of relabelings that is shared between callers, in bytes."""


def count(n: int, m: int) -> int:
    """Return the number of relabelings, C(n + m, n);
    raise ValueError for an empty sample.

    >>> count(10, 5), count(10, 10)
    (3003, 184756)
    """
    if n < 1 or m < 1:
        raise ValueError(
            "a relabeling needs n >= 1 candidates and m >= 1 references; "
            f"found n={n}, m={m}"
        )
    return math.comb(n + m, n)


def unrank(ranks: np.ndarray, n: int, m: int) -> np.ndarray:
    """Return the labels of the relabelings with ranks (P,) in the order of
    :func:`relabelings`, bool, shape (P, N).

    Raises ValueError when C(n + m, n) does not fit 63 bits.

    >>> unrank(np.array([0, 2]), 1, 2).astype(int).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    if count(n, m) >= 2**63:
        raise ValueError(f"{n} + {m} texts have too many relabelings to number")

    size = n + m
    binomial = np.array(
        [[math.comb(a, b) for b in range(n + 1)] for a in range(size)], dtype=object
    )
    # Every rank is below: the comparison has the same result.
    binomial[binomial >= 2**63] = 2**63 - 1
    binomial = binomial.astype(np.int64)
    rank = np.array(ranks, dtype=np.int64)

    left = np.full(rank.shape, n)
    labels = np.empty((len(rank), size), dtype=bool)
    for position in range(size):
        # Number of relabelings in which this text is a candidate: they come first.
        with_it = np.where(
            left > 0, binomial[size - position - 1, np.maximum(left - 1, 0)], 0
        )
        take = rank < with_it
        rank = np.where(take, rank, rank - with_it)
        left = left - take
        labels[:, position] = take
    return labels


def chunks(n: int, m: int, size: int) -> Iterator[np.ndarray]:
    """Yield all relabelings in order, in bool arrays of shape (at most ``size``, N);
    their total number is not limited.
    """
    total = count(n, m)
    if total * (n + m) <= _SHARED_BYTES:
        table = relabelings(n, m)
        yield from (table[start : start + size] for start in range(0, total, size))
        return
    for start in range(0, total, size):
        yield unrank(np.arange(start, min(start + size, total)), n, m)


def relabelings(n: int, m: int) -> np.ndarray:
    """Return all relabelings, bool, shape (P, N), True for a candidate, the identity
    first; small tables are shared, read-only.

    >>> relabelings(1, 2).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    if count(n, m) * (n + m) <= _SHARED_BYTES:
        return _shared_table(n, m)
    return unrank(np.arange(count(n, m)), n, m)


@lru_cache(maxsize=32)
def _shared_table(n: int, m: int) -> np.ndarray:
    table = unrank(np.arange(count(n, m)), n, m)
    table.setflags(write=False)
    return table


def draws(n: int, m: int, number: int, seed: int) -> np.ndarray:
    """Return uniformly random relabelings, bool, shape (number, N);
    they depend on seed, n and m alone.
    """
    order = np.random.default_rng([seed, n, m]).random((number, n + m)).argsort(axis=1)
    return order < n
