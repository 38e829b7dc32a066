"""Triangle-rank statistic of one direction at a time, under many relabelings.

The triangles with two candidates are counted by a polynomial in the labels, whose cubic
terms do not cancel (:mod:`harness_metrics.trm.statistic`): a matrix product with all
pairs and triples of texts.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from harness_metrics.trm.triangles import indicators, pair_counts

MEMORY_BYTES = 64 << 20
"""Bound on temporary arrays, in bytes; results do not depend on it."""


def direction_coefficients(distances: np.ndarray) -> np.ndarray:
    """Return T_r as polynomials in the labels, shape (B, 6, N + pairs + triples).

    The first three rows are the triangles with two candidates, T_r^C = sum I_r(i, j |
    k) s_i s_j (1 - s_k); the last three are all triangles.
    """
    size = distances.shape[-1]
    pairs, triples = _tuples(size)
    out = np.zeros((len(distances), 6, size + len(pairs) + len(triples)))
    singles = slice(0, size)
    twos = slice(size, size + len(pairs))
    threes = slice(size + len(pairs), None)

    counts = pair_counts(distances)
    for r, indicator in enumerate(indicators(distances)):
        cut = counts[:, r]
        # For labels of 0 and 1, the pairs with different labels are sum_p s_p cut_p - 2
        # sum_{p<q} s_p s_q cut_pq, since s_p^2 = s_p.
        out[:, 3 + r, singles] = cut.sum(axis=2)
        out[:, 3 + r, twos] = -2 * cut[:, pairs[:, 0], pairs[:, 1]]

        # s_i s_j (1 - s_k): the pair term counts every x, and the triple terms below
        # take those x off that are candidates too.
        within = indicator.sum(axis=3, dtype=np.float64)
        within = within + within.transpose(0, 2, 1)
        out[:, r, twos] = within[:, pairs[:, 0], pairs[:, 1]]
        for i, j, k in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
            a = triples[:, i]
            b = triples[:, j]
            x = triples[:, k]
            forth = indicator[:, a, b, x].astype(np.float64)
            out[:, r, threes] -= forth + indicator[:, b, a, x]
    return out


def _tuples(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs (p, 2) and all triples (t, 3) of ``size`` texts."""
    pairs = np.array(list(combinations(range(size), 2)), dtype=np.intp).reshape(-1, 2)
    triples = np.array(list(combinations(range(size), 3)), dtype=np.intp).reshape(-1, 3)
    return pairs, triples


def label_step(size: int, batch: int) -> int:
    """Return the number of labels whose temporary arrays stay within the memory
    bound.
    """
    width = size + size * (size - 1) // 2 + size * (size - 1) * (size - 2) // 6
    return max(1, MEMORY_BYTES // (6 * width + 150 * batch))


def statistic_per_direction(coefficients: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the sum of Q over the two directions under labels (P, N), shape (B, P);
    NaN without any triangle.
    """
    pairs, triples = _tuples(labels.shape[1])
    columns = np.ascontiguousarray(labels.T)
    both_in = columns[pairs[:, 0]] & columns[pairs[:, 1]]
    all_in = columns[triples[:, 0]] & columns[triples[:, 1]] & columns[triples[:, 2]]

    # float32 holds these integers exactly: partial sums stay below 2^24 for up to a few
    # hundred texts
    dtype = np.float32 if labels.shape[1] <= 100 else np.float64
    table = np.concatenate([columns, both_in, all_in]).astype(dtype)
    batch, _, width = coefficients.shape
    products = coefficients.reshape(-1, width).astype(dtype) @ table
    counts = products.astype(np.float64).reshape(batch, 6, -1)

    two_candidates = counts[:, :3]
    both_directions = counts[:, 3:]
    # Triangles with two references are all triangles without those with two candidates.
    two_references = both_directions - two_candidates
    q = statistic_of_direction(two_candidates) + statistic_of_direction(two_references)
    return np.where(both_directions.sum(axis=1) > 0, q, np.nan)


def statistic_of_direction(counts: np.ndarray) -> np.ndarray:
    """Return Q (B, P) of triangle counts (B, 3, P), 0 without triangles."""
    total = counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / total[:, None]
    return np.where(total > 0, np.abs(shares - 1 / 3).sum(axis=1), 0.0)
