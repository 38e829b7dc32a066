"""Compiled loops of CIDEr; :mod:`harness.plugins.ngram.cider_formula` says the same readably and is their oracle."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weigh(start, stop, bounds, ids, counts, idf, weights, norms):
    """Fill the tf-idf weights of the entries, and the norms of each order, for rows ``start`` to ``stop``."""
    for row in range(start, stop):
        for k in range(norms.shape[1]):
            total = 0.0
            for e in range(bounds[row, k], bounds[row, k + 1]):
                weight = counts[e] * idf[ids[e]]
                weights[e] = weight
                total += weight * weight
            norms[row, k] = np.sqrt(total)


@njit(cache=True, nogil=True)
def score_pairs(hyp, ref, bounds, ids, weights, norms, bigrams, penalty, clip, scratch, out):
    """Fill ``out`` (B, n, m) with ten times the mean over orders, hypotheses ``hyp`` (B, n) against ``ref`` (B, m) rows.

    ``scratch`` (one zero per n-gram) holds one reference at a time and is left zero. Sums run over the hypothesis's
    n-grams by first occurrence.
    """
    orders = norms.shape[1]
    for b in range(hyp.shape[0]):
        for j in range(ref.shape[1]):
            r = ref[b, j]
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = weights[e]
            for i in range(hyp.shape[1]):
                h = hyp[b, i]
                decay = penalty[abs(bigrams[h] - bigrams[r])] if clip else 1.0
                total = 0.0
                for k in range(orders):
                    part = 0.0
                    for e in range(bounds[h, k], bounds[h, k + 1]):
                        there = scratch[ids[e]]
                        part += (min(weights[e], there) if clip else weights[e]) * there
                    scale = norms[h, k] * norms[r, k]
                    if scale != 0.0:
                        part /= scale
                    total += part * decay
                out[b, i, j] = total / orders * 10.0
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = 0.0
