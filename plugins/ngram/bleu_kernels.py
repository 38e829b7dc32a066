"""Compiled loops of BLEU; :mod:`harness.plugins.ngram.bleu_formula` is their readable reference.

Imported only when used, because numba is slow to import. The arguments ``bounds``, ``ids`` and ``counts`` are the arrays of a
:class:`~harness.plugins.ngram.index.NgramIndex`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER
from harness.plugins.compiled.checked_cache import cached


@cached
def clip_pairs(hyp, ref, bounds, ids, counts, scratch, out):
    """Fill ``out`` (B, n, m, 4) with the matches of rows ``hyp`` (B, n), clipped at single references ``ref`` (B, m).

    ``scratch`` (n_grams,) is zero on entry and on return.
    """
    orders = out.shape[3]
    for b in range(hyp.shape[0]):
        for j in range(ref.shape[1]):
            r = ref[b, j]
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = counts[e]
            for i in range(hyp.shape[1]):
                h = hyp[b, i]
                for k in range(orders):
                    total = 0
                    for e in range(bounds[h, k], bounds[h, k + 1]):
                        total += min(counts[e], scratch[ids[e]])
                    out[b, i, j, k] = total
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = 0


@cached
def clip_multi(hyp, ref, bounds, ids, counts, scratch, out):
    """Fill ``out`` (B, n, 4) with the matches of rows ``hyp`` (B, n), clipped at the largest count in any row of ``ref`` (B, m).

    ``scratch`` (n_grams,) is zero on entry and on return.
    """
    orders = out.shape[2]
    for b in range(hyp.shape[0]):
        for j in range(ref.shape[1]):
            r = ref[b, j]
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = max(scratch[ids[e]], counts[e])
        for i in range(hyp.shape[1]):
            h = hyp[b, i]
            for k in range(orders):
                total = 0
                for e in range(bounds[h, k], bounds[h, k + 1]):
                    total += min(counts[e], scratch[ids[e]])
                out[b, i, k] = total
        for j in range(ref.shape[1]):
            r = ref[b, j]
            for e in range(bounds[r, 0], bounds[r, orders]):
                scratch[ids[e]] = 0


@njit(**INNER)
def _masks(rows, i, bounds, ids, counts, local, table, masks, hits):
    """Fill ``masks`` and ``hits`` with the sets of texts that raise the clipped counts of text i; return their number.

    A clipped count is the number of levels 1..c (c = the count in text i) that at least one reference reaches. Each level of
    each n-gram gives the set of the other texts that reach it, as bits; equal sets are merged.

    ``rows`` (N,); ``local`` (n_grams,), the row of each n-gram in ``table`` (grams, N), which holds its counts in the texts;
    ``masks`` (capacity, W) uint64, the sets; ``hits`` (capacity, n), the levels of each order that a set reaches.
    """
    size, words = rows.shape[0], masks.shape[1]
    n_masks = 0
    for k in range(hits.shape[1]):
        for e in range(bounds[rows[i], k], bounds[rows[i], k + 1]):
            gram = local[ids[e]]
            for level in range(1, counts[e] + 1):
                some = False
                for w in range(words):
                    masks[n_masks, w] = 0
                for j in range(size):
                    if j != i and table[gram, j] >= level:
                        masks[n_masks, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                        some = True
                if not some:
                    break
                same = n_masks
                for other in range(n_masks):
                    equal = True
                    for w in range(words):
                        equal &= masks[other, w] == masks[n_masks, w]
                    if equal:
                        same = other
                        break
                if same == n_masks:
                    for o in range(hits.shape[1]):
                        hits[n_masks, o] = 0
                    n_masks += 1
                hits[same, k] += 1
    return n_masks


@cached
def relabel(rows, labels, bits, order, bounds, ids, counts, lengths, n, tiny, small, local, out):
    """Fill ``out`` (B, P) with the mean over candidates of multi-reference BLEU-n under each relabeling.

    ``rows`` (B, N); ``labels`` (P, N) bool, True = candidate; ``bits`` (P, W) uint64, the references of each relabeling as
    bits; ``order`` (B, N, N), for text i the texts by increasing difference in length, the shorter first on ties; ``lengths``
    (rows of the index,). ``local`` (n_grams,) is -1 on entry and on return.
    """
    size = rows.shape[1]
    n_labels = labels.shape[0]
    for b in range(rows.shape[0]):
        texts = rows[b]
        capacity, grams = 1, 0
        for j in range(size):
            span = 0
            for e in range(bounds[texts[j], 0], bounds[texts[j], n]):
                span += counts[e]
                if local[ids[e]] < 0:
                    local[ids[e]] = grams
                    grams += 1
            capacity = max(capacity, span + 1)
        table = np.zeros((grams, size), dtype=np.int64)
        for j in range(size):
            for e in range(bounds[texts[j], 0], bounds[texts[j], n]):
                table[local[ids[e]], j] = counts[e]
        masks = np.zeros((capacity, bits.shape[1]), dtype=np.uint64)
        hits = np.zeros((capacity, n), dtype=np.int64)
        correct = np.zeros(n, dtype=np.int64)
        last = np.full(n, -1, dtype=np.int64)
        for p in range(n_labels):
            out[b, p] = 0.0
        for i in range(size):
            n_masks = _masks(texts, i, bounds, ids, counts, local, table, masks, hits)
            length = lengths[texts[i]]
            root = 0.0
            last[:] = -1
            for p in range(n_labels):
                if not labels[p, i]:
                    continue
                correct[:] = 0
                for s in range(n_masks):
                    hit = False
                    for w in range(bits.shape[1]):
                        hit |= (masks[s, w] & bits[p, w]) != 0
                    if hit:
                        for k in range(n):
                            correct[k] += hits[s, k]
                changed = False
                for k in range(n):
                    changed |= correct[k] != last[k]
                    last[k] = correct[k]
                if changed:  # consecutive relabelings mostly have equal counts
                    product = 1.0
                    for k in range(n):
                        product *= (correct[k] + tiny) / (max(0, length - k) + small)
                    root = product ** (1.0 / n)
                closest = 0
                for s in range(size):
                    if not labels[p, order[b, i, s]]:
                        closest = lengths[texts[order[b, i, s]]]
                        break
                ratio = (length + tiny) / (closest + small)
                out[b, p] += root * np.exp(1 - 1 / ratio) if ratio < 1 else root
        for p in range(n_labels):
            out[b, p] /= np.sum(labels[p])
        for j in range(size):
            for e in range(bounds[texts[j], 0], bounds[texts[j], n]):
                local[ids[e]] = -1
