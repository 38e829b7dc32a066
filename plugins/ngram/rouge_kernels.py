"""Compiled loops of ROUGE-L; :mod:`harness.plugins.ngram.rouge_formula` is their readable reference.

Imported only when used, because numba is slow to import. The arguments ``words`` and ``starts`` are the arrays of a
:class:`~harness.plugins.tokenisers.words.WordIndex`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER
from harness.plugins.compiled.checked_cache import cached


@njit(**INNER)
def _lcs_long(a, b):
    """Return the length of the longest common subsequence of word ids ``a`` and ``b``, by the recurrence row by row."""
    row = np.zeros(b.shape[0] + 1, dtype=np.int64)
    for i in range(a.shape[0]):
        diagonal = 0
        for j in range(b.shape[0]):
            above = row[j + 1]
            if a[i] == b[j]:
                row[j + 1] = diagonal + 1
            elif row[j] > above:
                row[j + 1] = row[j]
            diagonal = above
    return row[b.shape[0]]


@cached
def lcs_pairs(hyp, ref, words, starts, scratch, out):
    """Fill ``out`` (B, n, m) with the lengths of the longest common subsequences of rows ``hyp`` (B, n) and ``ref`` (B, m).

    References of up to 64 words use the bit-parallel recurrence of Hyyro (2004): one addition per word of the hypothesis.
    ``scratch`` (n_words,), uint64, is zero on entry and on return.
    """
    one = np.uint64(1)
    for b in range(hyp.shape[0]):
        for j in range(ref.shape[1]):
            first, last = starts[ref[b, j]], starts[ref[b, j] + 1]
            size = last - first
            if size > 64:
                for i in range(hyp.shape[1]):
                    h = hyp[b, i]
                    out[b, i, j] = _lcs_long(words[starts[h] : starts[h + 1]], words[first:last])
                continue
            for p in range(size):
                scratch[words[first + p]] |= one << np.uint64(p)
            for i in range(hyp.shape[1]):
                h = hyp[b, i]
                free = ~np.uint64(0)  # a zero bit marks a position where the subsequence grows
                for p in range(starts[h], starts[h + 1]):
                    matches = free & scratch[words[p]]
                    free = (free + matches) | (free - matches)
                total = 0
                for p in range(size):
                    total += 1 - int((free >> np.uint64(p)) & one)
                out[b, i, j] = total
            for p in range(size):
                scratch[words[first + p]] = 0


@cached
def relabel(lcs, lengths, by_precision, by_recall, labels, beta, out):
    """Fill ``out`` (B, P) with the mean over candidates of multi-reference ROUGE-L under each relabeling.

    ``lcs`` (B, N, N), lengths of common subsequences; ``lengths`` (B, N), words of each text; ``by_precision`` and
    ``by_recall`` (B, N, N), for each row the columns by decreasing precision or recall: the first that is a reference has the
    maximum over references. ``labels`` (P, N) bool, True = candidate.
    """
    size = labels.shape[1]
    for b in range(lcs.shape[0]):
        for p in range(labels.shape[0]):
            total, n = 0.0, 0
            for i in range(size):
                if not labels[p, i]:
                    continue
                n += 1
                s = 0
                while labels[p, by_precision[b, i, s]]:
                    s += 1
                precision = lcs[b, i, by_precision[b, i, s]] / lengths[b, i]
                s = 0
                while labels[p, by_recall[b, i, s]]:
                    s += 1
                j = by_recall[b, i, s]
                recall = lcs[b, i, j] / lengths[b, j]
                if precision != 0.0 and recall != 0.0:
                    total += (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
            out[b, p] = total / n
