"""Compiled loops of CIDEr; :mod:`harness.plugins.ngram.cider_formula` is their readable reference.

Imported only when used, because numba is slow to import. The arguments ``bounds``, ``ids`` and ``counts`` are the arrays of a
:class:`~harness.plugins.ngram.index.NgramIndex`.
"""

from __future__ import annotations

import numpy as np

from harness.plugins.compiled.checked_cache import cached


@cached
def weigh(start, stop, bounds, ids, counts, idf, weights, norms):
    """Fill ``weights`` (entries,) and ``norms`` (rows, 4) for rows ``start`` to ``stop``.

    The weight of an entry is its count times ``idf`` (n_grams,); the norm is Euclidean, one per order.
    """
    for row in range(start, stop):
        for k in range(norms.shape[1]):
            total = 0.0
            for e in range(bounds[row, k], bounds[row, k + 1]):
                weight = counts[e] * idf[ids[e]]
                weights[e] = weight
                total += weight * weight
            norms[row, k] = np.sqrt(total)


@cached
def score_pairs(hyp, ref, bounds, ids, weights, norms, bigrams, penalty, clip, scratch, out):
    """Fill ``out`` (B, n, m) with the scores, in [0, 10], of rows ``hyp`` (B, n) against single references ``ref`` (B, m).

    ``weights`` and ``norms`` as :func:`weigh` fills them; ``bigrams`` (rows,), the number of bigrams of each row; ``penalty``,
    the length penalty by difference in bigrams; ``clip``, True for CIDEr-D, False for the original CIDEr. ``scratch``
    (n_grams,) holds one reference at a time and is zero on entry and on return. Sums run over the n-grams of the hypothesis by
    first occurrence.
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
