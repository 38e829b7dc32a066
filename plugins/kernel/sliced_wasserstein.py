"""Sliced Wasserstein distance (Bonneel et al. 2015), on arrays.

    SW_p = (mean over directions u of W_p(C u, R u)^p)^(1/p)

In one dimension the optimal plan pairs quantiles. For samples of different sizes both quantile functions are steps; on each
interval between consecutive levels i/n, j/m they pair one c with one r, with the interval's length as weight. The
intervals depend on (n, m) alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from harness.plugins.kernel import geometry
from harness.stats import permutation

_CHUNK_BYTES = 16 << 20


class Coupling(NamedTuple):
    """Which order statistics of the two samples meet, and with what weight."""

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray


@lru_cache(maxsize=256)
def coupling(n: int, m: int) -> Coupling:
    """The quantile coupling of n and m equally weighted points, in exact integer arithmetic (levels in units of 1/(nm))."""
    levels = np.unique(np.concatenate([np.arange(n + 1) * m, np.arange(m + 1) * n]))
    starts = levels[:-1]
    return Coupling(starts // m, starts // n, np.diff(levels) / (n * m))


def directions(width: int, number: int, seed: int) -> np.ndarray:
    """(d, number) unit vectors, uniform on the sphere, the same for one seed."""
    drawn = np.random.default_rng([seed, width]).standard_normal((width, number))
    return drawn / np.linalg.norm(drawn, axis=0)


def sliced_wasserstein(
    x: np.ndarray, y: np.ndarray, projections: int = 128, p: float = 2.0, seed: int = 0
) -> np.ndarray | float:
    """SW_p of x (n, d) and y (m, d), or (B,) for batches; >= 0, a Monte Carlo estimate over seeded directions."""
    vectors, n = geometry.stacked(x, y)
    return geometry.shaped_like(observed(projected(vectors, projections, seed), n, p), x)


def projected(vectors: np.ndarray, projections: int, seed: int) -> np.ndarray:
    """(B, L, N) float64 coordinates of vectors (B, N, d) along L directions."""
    axes = directions(vectors.shape[-1], projections, seed)
    return np.stack([(part.astype(np.float64) @ axes).T for part in vectors])


def observed(lines: np.ndarray, n: int, p: float) -> np.ndarray:
    """(B,) from coordinates (B, L, N), the n candidates first."""
    return _distance(np.sort(lines[..., :n], axis=-1), np.sort(lines[..., n:], axis=-1), p)


def relabeled(lines: np.ndarray, labels: np.ndarray, p: float) -> np.ndarray:
    """(B, P) under labels (P, N) bool: each line is sorted once, and the labels sorted with it."""
    labels = np.asarray(labels, dtype=bool)
    batch, count, size = lines.shape
    n = int(labels[0].sum())
    out = np.empty((batch, len(labels)))
    step = max(1, _CHUNK_BYTES // (24 * count * size))
    for row in range(batch):
        order = np.argsort(lines[row], axis=-1, kind="stable")
        ranked = np.take_along_axis(lines[row], order, axis=-1)
        for start in range(0, len(labels), step):
            is_candidate = labels[start : start + step][:, order]  # (P, L, N)
            values = np.broadcast_to(ranked, is_candidate.shape)
            first = values[is_candidate].reshape(-1, count, n)
            second = values[~is_candidate].reshape(-1, count, size - n)
            out[row, start : start + step] = _distance(first, second, p)
    return out


def exact_p_values(lines: np.ndarray, n: int, p: float) -> np.ndarray:
    """(B,) exact p-values over all relabelings (half of them when n = m: the distance is symmetric)."""
    m = lines.shape[-1] - n
    total = permutation.count(n, m) // (2 if n == m else 1)
    values, extreme, seen = observed(lines, n, p), np.zeros(len(lines), dtype=np.int64), 0
    for chunk in permutation.chunks(n, m, 1 << 14):
        chunk = chunk[: total - seen]
        if not len(chunk):
            break
        seen += len(chunk)
        extreme += permutation.tail_counts(relabeled(lines, chunk, p), values, "upper")
    return extreme / total


def _distance(first: np.ndarray, second: np.ndarray, p: float) -> np.ndarray:
    """(...) from order statistics (..., L, n) and (..., L, m)."""
    plan = coupling(first.shape[-1], second.shape[-1])
    gaps = np.abs(first[..., plan.first] - second[..., plan.second])
    powered = gaps if p == 1 else gaps * gaps if p == 2 else gaps**p
    return (powered @ plan.weights).mean(axis=-1) ** (1.0 / p)
