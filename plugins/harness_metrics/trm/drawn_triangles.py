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

    if pooling == "pooled":
        shares = sizes / sizes.sum()
    else:
        shares = (sizes > 0) / np.count_nonzero(sizes)

    samples = (0, n), (n, m)
    strata: list[Stratum] = []
    for pair, opposite, share, size in zip(samples, samples[::-1], shares, sizes):
        indicators = np.zeros((2, 3))
        if size:
            # a variance needs two draws
            draws = max(2, round(drawn * share))
            indicators = _drawn_indicators(distances, pair, opposite, draws, rng)
        strata.append((size, indicators))

    candidates, references = (
        size * indicators.mean(axis=0, keepdims=True) for size, indicators in strata
    )
    q = statistic_of_counts(candidates, references, pooling)

    # Per direction, Q is the sum of two statistics of independent draws, whose
    # variances add up.
    if pooling == "pooled":
        groups = [strata]
    else:
        groups = [[stratum] for stratum in strata if stratum[0]]
    error = np.sqrt(sum(map(_variance, groups)))
    return float(q[0]), float(error)


def _variance(strata: Sequence[Stratum]) -> float:
    """Return the variance of Q of the triangles of some strata together,
    which is 2 max |share of T_r - 1/3|.
    """
    stratum_counts = [size * indicators.mean(axis=0) for size, indicators in strata]
    counts = np.sum(stratum_counts, axis=0)
    total = counts.sum()
    shares = counts / total

    variances = np.zeros(3)
    for size, indicators in strata:
        # A share is a ratio: its linear part in the counts T_r is
        # (T_r - T share_r) / T.
        triangles = indicators.sum(axis=1, keepdims=True)
        linear = size * (indicators - triangles * shares) / total
        variances += linear.var(axis=0, ddof=1) / len(indicators)

    # Any rank whose share may be the one that differs most from 1/3, within three
    # standard errors, can make the error.
    differences = np.abs(shares - 1 / 3)
    may_be_largest = differences + 3 * np.sqrt(variances) >= differences.max()
    return 4 * float(variances[may_be_largest].max())


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
    first, size = pair
    start, count = opposite
    a = rng.integers(size, size=drawn)
    b = rng.integers(size - 1, size=drawn)
    x = rng.integers(count, size=drawn)

    b += b >= a  # uniform over the texts other than a
    a = a + first
    b = b + first
    x = x + start

    ranks = edge_ranks(distances[a, b], distances[x, a], distances[x, b])
    return np.column_stack(ranks).astype(np.float64)
