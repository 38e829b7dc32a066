"""Triangle-rank statistic and its exact permutation test, on matrices of distances.

Chan et al. 2022, *Distribution Aware Metrics for Conditional Natural Language
Generation*, section 3.2, with the definitions of Liu & Modarres 2011 (*A triangle test
for equality of distribution functions in high dimensions*). N = n + m texts, the n
candidates first; ``d[i, j]`` is the distance with text i as hypothesis and j as
reference. Triangles are all ordered pairs (a, b), a != b, of one sample with every x of
the other, in both directions. Their edges are d_IN = d[a, b], d_0 = d[x, a] and
d_1 = d[x, b]. T_r counts the triangles whose edge d_IN is the smallest (r = 0), the
middle (1) or the largest (2); ties count wherever they satisfy the inequality. With
T = T_0 + T_1 + T_2,

    Q = |T_0/T - 1/3| + |T_1/T - 1/3| + |T_2/T - 1/3|

is in [0, 4/3], and 0 when the distances do not separate the samples.

**Cost of all relabelings.** With labels s in {0, 1}^N a triangle (i, j | k) counts when
s_i = s_j != s_k, and

    [s_i = s_j != s_k] = s_i s_j + s_k - s_i s_k - s_j s_k
                       = ([s_i != s_k] + [s_j != s_k] - [s_i != s_j]) / 2,

so T_r(s) is a sum over pairs with different labels: a form in the sense of
:mod:`harness.stats.forms`, built once in O(N^3). Since E_r = 3 T_r - T sum to zero, sum
|E_r| = 2 max |E_r|, and Q(s) = 2 max_r |E_r(s)| / (3 T(s)).

**Per direction** (Liu & Modarres): Q of the triangles with two candidates plus Q of
those with two references, in [0, 8/3]; a direction without triangles adds 0. The cubic
terms s_i s_j s_k do not cancel, and the test is a matrix product with all pairs and
triples.

All counts are integers, exact in float64.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.stats import forms, permutation, ties
from harness.stats.permutation_p_values import tail_counts
from harness_metrics.kernel import symmetric_relabelings
from harness_metrics.trm.directions import (
    MEMORY_BYTES,
    direction_coefficients,
    label_step,
    statistic_of_direction,
    statistic_per_direction,
)
from harness_metrics.trm.triangles import (
    blocks_of,
    direction_indicators,
    observed_counts,
    pair_counts,
)

Pooling = Literal["pooled", "per-direction"]

_LARGEST = 8 / 3
"""Largest Q per direction."""


def triangle_rank(
    distances: np.ndarray, n_candidates: int, pooling: Pooling = "pooled"
) -> np.ndarray | float:
    """Return the triangle-rank statistic Q.

    Parameters
    ----------
    distances : ndarray, shape (N, N) or (B, N, N)
        Distances, rows the hypothesis; the candidates come first.
    n_candidates : int
        Number of candidates n.
    pooling : {'pooled', 'per-direction'}
        Triangles of both directions in one count, or the sum of Q over the directions.

    Returns
    -------
    float, or ndarray of shape (B,)
        NaN without a triangle (n = m = 1).

    Raises
    ------
    ValueError
        If the matrices are not square or a sample is empty.

    References
    ----------
    Chan et al. 2022, section 3.2 (pooled); Liu & Modarres 2011 (per direction).

    Examples
    --------
    Two candidates far from two references:

    >>> points = np.array([0.0, 0.1, 5.0, 5.1])
    >>> round(float(triangle_rank(abs(points[:, None] - points), 2)), 4)
    1.3333
    """
    batch, n, _ = _check_shape(distances, n_candidates)
    block_counts = [observed_counts(block, n) for _, block in blocks_of(batch)]
    # an empty batch has no block
    counts = np.concatenate([np.empty((0, 2, 3)), *block_counts])
    values = statistic_of_counts(counts[:, 0], counts[:, 1], pooling)
    return values if np.ndim(distances) == 3 else float(values[0])


def leave_one_out_credits(
    distances: np.ndarray, n_candidates: int, pooling: Pooling = "pooled"
) -> np.ndarray:
    """Return Q(C, R) - Q(C without i, R) for each candidate i, shape (B, n).

    Parameters are those of :func:`triangle_rank`, with distances of shape (B, N, N).
    NaN where the set has no triangle without i.
    """
    batch, n, _ = _check_shape(distances, n_candidates)
    out = np.empty((len(batch), n))
    candidates = slice(0, n)
    references = slice(n, None)
    for start, block in blocks_of(batch):
        counts = np.empty((len(block), 1, 2, 3))
        of_member = np.empty((len(block), n, 2, 3))

        with_two_candidates = direction_indicators(block, candidates, references)
        for r, indicator in enumerate(with_two_candidates):
            by_pair = indicator.sum(axis=3, dtype=np.float64)
            counts[:, 0, 0, r] = by_pair.sum(axis=(1, 2))
            # A candidate is in the triangles in which it is the first or the second of
            # the pair.
            of_member[:, :, 0, r] = by_pair.sum(axis=1) + by_pair.sum(axis=2)

        with_two_references = direction_indicators(block, references, candidates)
        for r, indicator in enumerate(with_two_references):
            by_pair = indicator.reshape(len(block), -1, n)
            of_member[:, :, 1, r] = by_pair.sum(axis=1, dtype=np.float64)
            counts[:, 0, 1, r] = of_member[:, :, 1, r].sum(axis=1)

        # Triangles of the set without i are those of the set that do not hold i.
        left = (counts - of_member).reshape(-1, 2, 3)
        q = statistic_of_counts(counts[:, 0, 0], counts[:, 0, 1], pooling)
        q_without = statistic_of_counts(left[:, 0], left[:, 1], pooling)
        out[start : start + len(block)] = q[:, None] - q_without.reshape(-1, n)
    return out


def relabel(
    distances: np.ndarray,
    n_candidates: int,
    labels: np.ndarray,
    pooling: Pooling = "pooled",
) -> np.ndarray:
    """Return Q under relabelings, shape (B, P).

    Parameters
    ----------
    distances : ndarray, shape (B, N, N)
        Distances, rows the hypothesis.
    n_candidates : int
        Number of candidates of the observed labels; only the shape check uses it.
    labels : ndarray, shape (P, N)
        Bool, True for a candidate; rows may have any number of candidates.
    pooling : {'pooled', 'per-direction'}
        As for :func:`triangle_rank`.

    Raises
    ------
    ValueError
        If the shapes do not match.
    """
    batch, n, m = _check_shape(distances, n_candidates)
    labels = np.asarray(labels, dtype=bool)
    if labels.ndim != 2 or labels.shape[1] != n + m:
        raise ValueError(f"labels have shape {labels.shape}; expected (P, {n + m})")

    out = np.empty((len(batch), len(labels)))
    for start, block in blocks_of(batch):
        rows = slice(start, start + len(block))
        if pooling == "pooled":
            values = forms.evaluate(_forms(block), labels, memory_bytes=MEMORY_BYTES)
            out[rows] = _statistic_of_forms(values)
        else:
            coefficients = direction_coefficients(block)
            step = label_step(n + m, len(block))
            for first in range(0, len(labels), step):
                chunk = slice(first, first + step)
                out[rows, chunk] = statistic_per_direction(coefficients, labels[chunk])
    return out


def exact_p_values(
    distances: np.ndarray, n_candidates: int, pooling: Pooling = "pooled"
) -> np.ndarray:
    """Return exact permutation p-values of distances (B, N, N), shape (B,).

    The p-value is the share of all C(N, n) relabelings, the observed one included,
    whose Q is at least the observed Q. It is NaN without a triangle. Q is a ratio of
    counts and has no unit: ties are exact for ``pooled``, and within rounding error for
    ``per-direction``. Memory is bounded for any shape. For n = m only half of the
    relabelings are evaluated, since s and 1 - s give the same Q. Raises ValueError as
    :func:`triangle_rank` does.
    """
    batch, n, m = _check_shape(distances, n_candidates)
    observed = np.asarray(triangle_rank(batch, n, pooling))
    extreme = np.zeros(len(batch), dtype=np.int64)

    # For n = m, s and 1 - s exchange the samples and leave Q as it is: both halves of
    # the relabelings have the same counts, and so the same share.
    total = permutation.count(n, m) // (2 if n == m else 1)
    for start, block in blocks_of(batch):
        rows = slice(start, start + len(block))
        if pooling == "pooled":
            extreme[rows] = _pooled_extremes(block, n, mirrored=n == m)
        else:
            coefficients = direction_coefficients(block)
            step = label_step(n + m, len(block))
            for labels in symmetric_relabelings.chunks(n, m, step):
                values = statistic_per_direction(coefficients, labels)
                extreme[rows] += tail_counts(
                    values, observed[rows], "upper", ties.tolerance(_LARGEST)
                )
    return np.where(np.isnan(observed), np.nan, extreme / total)


def _check_shape(distances: np.ndarray, n: int) -> tuple[np.ndarray, int, int]:
    """Return the distances as (B, N, N) float64, n and m; raise ValueError for other
    shapes or an empty sample.
    """
    array = np.asarray(distances, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        raise ValueError(
            f"distances have shape {array.shape}; expected (N, N) or (B, N, N)"
        )
    m = array.shape[-1] - n
    if n < 1 or m < 1:
        raise ValueError(
            f"{n} candidates among {n + m} texts: both samples need at least one text"
        )
    return array.reshape(-1, n + m, n + m), n, m


def _forms(distances: np.ndarray) -> np.ndarray:
    """Return the symmetric forms of E_0 = 3 T_0 - T, E_1 = 3 T_1 - T and T,
    shape (B, 3, N, N).
    """
    counts = pair_counts(distances)
    total = counts.sum(axis=1)
    return np.stack([3 * counts[:, 0] - total, 3 * counts[:, 1] - total, total], axis=1)


def _statistic_of_forms(values: np.ndarray) -> np.ndarray:
    """Return Q, shape (B, P), for the values (B, 3, P) of E_0, E_1 and T;
    NaN where T = 0.
    """
    total = values[:, 2]
    # sum |E_r| / (3 T) = 2 max |E_r| / (3 T), because E_0 + E_1 + E_2 = 0: of three
    # numbers that sum to zero, the largest is minus the sum of the other two.
    largest = _largest(values[:, 0], values[:, 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, largest * (2 / 3) / total, np.nan)


def _largest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return max |E_r| for E_0 and E_1 of any shape; E_2 = -E_0 - E_1."""
    return np.maximum(np.maximum(np.abs(first), np.abs(second)), np.abs(first + second))


def statistic_of_counts(
    candidates: np.ndarray, references: np.ndarray, pooling: Pooling
) -> np.ndarray:
    """Return Q (B,) of T_r of the triangles with two candidates and of those with two
    references, each (B, 3); NaN without any.
    """
    counts = candidates + references
    total = counts.sum(axis=1, keepdims=True)
    if pooling == "pooled":
        errors = 3 * counts - total
        values = np.stack([errors[:, :1], errors[:, 1:2], total], axis=1)
        return _statistic_of_forms(values)[:, 0]

    of_candidates = statistic_of_direction(candidates[..., None])
    q = of_candidates + statistic_of_direction(references[..., None])
    return np.where(total > 0, q, np.nan)[:, 0]


def _pooled_extremes(distances: np.ndarray, n: int, *, mirrored: bool) -> np.ndarray:
    """Return the number of relabelings with at least the observed Q, shape (B,).

    Q is 2/3 of the ratio max |E_r| / T of two integers, E / T in short. The condition
    is evaluated without division for each relabeling, as E >= (1 - 8 eps) (E_0 / T_0) T
    with the observed E_0 and T_0. Different ratios differ by at least 1 / (E_0 T),
    relative to the observed one, so that the comparison is exact while E_0 T is below
    2^48: for all shapes up to 250 texts.
    """
    batch, size = distances.shape[:2]
    stacked = _forms(distances)
    observed = forms.identity(stacked, n)  # (B, 3): E_0, E_1 and T
    largest = _largest(observed[:, 0], observed[:, 1])
    with np.errstate(invalid="ignore"):
        slope = (1 - 8 * np.finfo(np.float64).eps) * largest / observed[:, 2]

    extreme = np.zeros(batch, dtype=np.int64)
    all_forms = stacked.transpose(1, 0, 2, 3).reshape(3 * batch, size, size)
    for values in forms.sweep(all_forms, n, mirrored=mirrored):
        first, second, total = values.reshape(3, batch, -1)
        # In place, because these three arrays are the whole cost of the test: |E_2| =
        # |E_0 + E_1|, then the maximum of the three.
        third = first + second
        for array in (first, second, third):
            np.abs(array, out=array)
        np.maximum(first, second, out=first)
        np.maximum(first, third, out=first)

        total *= slope[:, None]
        extreme += np.count_nonzero(first >= total, axis=1)
    return extreme
