"""Compiled loops of metrics that score a candidate by its best reference; imported only when used (numba)."""

from __future__ import annotations

from harness.plugins.compiled.checked_cache import cached


@cached
def relabel(scores, ranked, labels, out):
    """Fill ``out`` (B, P) with the mean over candidates of the best score over references, under each relabeling.

    ``scores`` (B, N, N), higher is better, rows the hypothesis; ``ranked`` (B, N, N), for each row the columns by decreasing
    score; ``labels`` (P, N) bool, True = candidate. The best reference of a candidate is the first column of its ranking that
    is not a candidate. Values are added in increasing order, so that relabelings with equal values give exactly equal means.
    """
    size = labels.shape[1]
    best = scores[0, 0].copy()
    for b in range(scores.shape[0]):
        for p in range(labels.shape[0]):
            n = 0
            for i in range(size):
                if not labels[p, i]:
                    continue
                k = 0
                while labels[p, ranked[b, i, k]]:
                    k += 1
                value = scores[b, i, ranked[b, i, k]]
                place = n
                while place > 0 and best[place - 1] > value:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = value
                n += 1
            total = 0.0
            for k in range(n):
                total += best[k]
            out[b, p] = total / n
