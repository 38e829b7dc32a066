"""Relabelings for statistics that do not change when the two samples are exchanged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.stats import permutation


def chunks(n: int, m: int, size: int) -> Iterator[np.ndarray]:
    """Yield the relabelings of n + m texts on which a symmetric statistic has to be
    evaluated for an exact test.

    For n = m these are the relabelings with text 0 among the candidates, one of each
    pair s, 1 - s; otherwise all of them.

    Parameters
    ----------
    n, m : int
        Numbers of candidates and references, each at least 1.
    size : int
        Maximum number of rows of a chunk.

    Yields
    ------
    ndarray, shape (p, N)
        Labels, bool, True for a candidate. The first row of all is the identity.

    Examples
    --------
    >>> [chunk.astype(int).tolist() for chunk in chunks(1, 1, 10)]
    [[[1, 0]]]
    >>> sum(map(len, chunks(2, 3, 4)))
    10
    """
    remaining = permutation.count(n, m) // (2 if n == m else 1)
    for chunk in permutation.chunks(n, m, size):
        chunk = chunk[:remaining]
        if not len(chunk):
            return
        remaining -= len(chunk)
        yield chunk
