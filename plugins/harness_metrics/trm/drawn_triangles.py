"""Triangle-rank statistic of drawn triangles, for examples with too many texts to
compare all of them.

The triangles with two candidates and those with two references are two strata. The
draws, with replacement, are divided between them as the triangles are (``pooled``),
or equally (``per-direction``); T_r of a stratum is estimated by its size times the
mean of the indicators of the rank r. The standard error comes from the linear part of
the shares of T_r in these means.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness_metrics.trm.statistic import Pooling, statistic_of_counts
from harness_metrics.trm.triangles import edge_ranks

Stratum = tuple[float, np.ndarray]
"""Number of triangles with two candidates, or with two references, and I_r of each
drawn one, shape (drawn, 3).
"""


def sampled_triangle_rank(
    distances: np.ndarray,
    n: int,
    pooling: Pooling,
    drawn: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return Q of drawn triangles, and its standard error;
    NaN and NaN without a triangle.

    Parameters
    ----------
    distances : ndarray, shape (N, N)
        Distances, rows the hypothesis; the n candidates come first.
    n : int
        Number of candidates.
    pooling : {'pooled', 'per-direction'}
        As for :func:`harness_metrics.trm.statistic.triangle_rank`.
    drawn : int
        Number of triangles to draw, at least 4.
    rng : Generator
        Source of the draws.
    """
    m = len(distances) - n
    sizes = np.array([n * (n - 1) * m, m * (m - 1) * n], dtype=np.float64)
    if not sizes.any():
        return float("nan"), float("nan")
    shares = (
        sizes / sizes.sum()
        if pooling == "pooled"
        else (sizes > 0) / np.count_nonzero(sizes)
    )
    samples = (0, n), (n, m)
    strata = [
        (
            size,
            _drawn_indicators(
                distances, pair, opposite, max(2, round(drawn * share)), rng
            )
            if size
            else np.zeros((2, 3)),
        )
        for pair, opposite, share, size in zip(samples, samples[::-1], shares, sizes)
    ]
    candidates, references = (
        size * indicators.mean(axis=0, keepdims=True) for size, indicators in strata
    )
    groups = (
        [strata]
        if pooling == "pooled"
        else [[stratum] for stratum in strata if stratum[0]]
    )
    return float(statistic_of_counts(candidates, references, pooling)[0]), float(
        np.sqrt(sum(map(_variance, groups)))
    )


def _variance(strata: Sequence[Stratum]) -> float:
    """Return the variance of Q of the triangles of some strata together,
    which is 2 max |share of T_r - 1/3|.
    """
    counts = np.sum(
        [size * indicators.mean(axis=0) for size, indicators in strata], axis=0
    )
    total = counts.sum()
    shares = counts / total
    variances = np.zeros(3)
    for size, indicators in strata:
        linear = (
            size * (indicators - indicators.sum(axis=1, keepdims=True) * shares) / total
        )
        variances += linear.var(axis=0, ddof=1) / len(indicators)
    # Any rank whose share may be the one that differs most from 1/3, within three
    # standard errors, can make the error.
    differences = np.abs(shares - 1 / 3)
    return 4 * float(
        variances[differences + 3 * np.sqrt(variances) >= differences.max()].max()
    )


def _drawn_indicators(
    distances: np.ndarray,
    pair: tuple[int, int],
    opposite: tuple[int, int],
    drawn: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return I_r of triangles drawn from one stratum, float64, shape (drawn, 3); a
    sample is its first text and its size.
    """
    (first, size), (start, count) = pair, opposite
    a = rng.integers(size, size=drawn)
    b = rng.integers(size - 1, size=drawn)
    x = rng.integers(count, size=drawn)
    b += b >= a  # uniform over the texts other than a
    a = a + first
    b = b + first
    x = x + start
    return np.column_stack(
        edge_ranks(distances[a, b], distances[x, a], distances[x, b])
    ).astype(np.float64)
