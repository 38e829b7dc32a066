"""Ranks of the edges of triangles and their counts, on matrices of distances.

Triangles, edges and ranks are those of :mod:`harness_metrics.trm.statistic`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

INDICATOR_BYTES = 4 << 20
"""Bound on the triangle indicators computed at once, in bytes,
so that they stay in the cache.
"""


def blocks_of(batch: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (start, part) for parts of a batch (B, N, N) whose N^3 indicators stay
    within the bound.
    """
    step = max(1, INDICATOR_BYTES // (8 * batch.shape[-1] ** 3))
    return (
        (start, batch[start : start + step]) for start in range(0, len(batch), step)
    )


def edge_ranks(
    inner: np.ndarray, to_a: np.ndarray, to_b: np.ndarray
) -> list[np.ndarray]:
    """Return where the edge ``inner`` is the smallest, the middle and the largest of
    three, each bool; shapes are broadcast.
    """
    # Ties satisfy both inequalities: a triangle with equal edges counts for every rank
    # that it fits, as Liu & Modarres define it, so that T may exceed the number of
    # triangles.
    le_a = inner <= to_a
    le_b = inner <= to_b
    ge_a = inner >= to_a
    ge_b = inner >= to_b
    return [le_a & le_b, (ge_a & le_b) | (ge_b & le_a), ge_a & ge_b]


def indicators(distances: np.ndarray, rows: slice = slice(None)) -> list[np.ndarray]:
    """Return I_0, I_1, I_2, each bool (B, A, N, N) over (a, b, x), a in ``rows``; False
    where two of the three are the same text.
    """
    size = distances.shape[-1]
    to = distances.transpose(0, 2, 1)  # d[x, a] at [a, x]
    a, b, x = np.ogrid[:size, :size, :size]
    distinct = (a[rows] != b) & (a[rows] != x) & (b != x)

    inner = distances[:, rows, :, None]
    ranks = edge_ranks(inner, to[:, rows, None, :], to[:, None])
    return [indicator & distinct for indicator in ranks]


def pair_counts(distances: np.ndarray) -> np.ndarray:
    """Return what each pair with different labels adds to T_r, shape (B, 3, N, N),
    symmetric; multiples of 1/2.
    """
    batch, size = distances.shape[:2]
    half = np.zeros((batch, 3, size, size))
    step = max(1, INDICATOR_BYTES // (batch * size**2))
    for start in range(0, size, step):  # memory grows with N^2, not with N^3
        rows = slice(start, start + step)
        for r, indicator in enumerate(indicators(distances, rows)):
            # By the identity of the module's docstring each triangle adds 1/2 to its
            # pairs (a, x) and (b, x) and takes 1/2 from (a, b).
            flat = indicator.view(np.uint8)
            half[:, r] += 0.5 * flat.sum(axis=1, dtype=np.float64)
            to_x = flat.sum(axis=2, dtype=np.float64)
            to_b = flat.sum(axis=3, dtype=np.float64)
            half[:, r, rows] += 0.5 * (to_x - to_b)

    # An unordered pair of texts receives what both of its orders add.
    return half + half.transpose(0, 1, 3, 2)


def observed_counts(distances: np.ndarray, n: int) -> np.ndarray:
    """Return T_r of the triangles with two candidates and of those with two references,
    shape (B, 2, 3).
    """
    candidates = slice(0, n)
    references = slice(n, None)
    out = np.zeros((len(distances), 2, 3))
    directions = (candidates, references), (references, candidates)
    for direction, (pair, opposite) in enumerate(directions):
        # d[x, a] at [a, x]
        inner = distances[:, pair, pair, None]
        to = distances[:, opposite, pair].transpose(0, 2, 1)
        distinct = ~np.eye(inner.shape[1], dtype=bool)[..., None]

        step = max(1, INDICATOR_BYTES // inner.size)
        for start in range(0, to.shape[2], step):
            chunk = to[:, :, start : start + step]
            ranks = edge_ranks(inner, chunk[:, :, None], chunk[:, None])
            for r, indicator in enumerate(ranks):
                counted = indicator & distinct
                out[:, direction, r] += np.count_nonzero(counted, axis=(1, 2, 3))
    return out


def direction_indicators(
    distances: np.ndarray, pair: slice, opposite: slice
) -> list[np.ndarray]:
    """Return I_0, I_1, I_2 of the triangles with two texts of ``pair``, each uint8 (B,
    A, A, X) over (a, b, x); 0 for a = b.
    """
    # d[x, a] at [a, x]
    inner = distances[:, pair, pair, None]
    to = distances[:, opposite, pair].transpose(0, 2, 1)
    distinct = ~np.eye(inner.shape[1], dtype=bool)[..., None]
    return [
        (indicator & distinct).view(np.uint8)
        for indicator in edge_ranks(inner, to[:, :, None], to[:, None])
    ]
