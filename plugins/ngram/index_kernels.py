"""Compiled loops of :mod:`harness.plugins.ngram.index`; imported only when n-grams are counted (numba)."""

from __future__ import annotations

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER

EMPTY = -1


@njit(**INNER)
def _slot(keys, key):
    """Place of ``key`` in the open-addressing table, or of the free cell where it belongs."""
    mask = np.uint64(keys.shape[0] - 1)
    h = np.uint64(key)  # the finaliser of splitmix64 (Steele et al. 2014)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    place = (h ^ (h >> np.uint64(31))) & mask
    while keys[place] != EMPTY and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@njit(cache=True, nogil=True)
def rehash(keys, values, new_keys, new_values):
    """Move every pair of a table into a larger one."""
    for i in range(keys.shape[0]):
        if keys[i] != EMPTY:
            place = _slot(new_keys, keys[i])
            new_keys[place] = keys[i]
            new_values[place] = values[i]


@njit(cache=True, nogil=True)
def extend_grams(words, prefix, keys, values, n_grams):
    """Ids of prefix + word for each pair, new ones numbered from ``n_grams`` on; returns (ids, n_grams)."""
    out = np.empty(words.shape[0], dtype=np.int64)
    for i in range(words.shape[0]):
        key = (prefix[i] << 32) | words[i]
        place = _slot(keys, key)
        if keys[place] == EMPTY:
            keys[place] = key
            values[place] = n_grams
            n_grams += 1
        out[i] = values[place]
    return out, n_grams


@njit(cache=True, nogil=True)
def count_texts(words, starts, keys, values, n_grams, seen, n_entries, ids, counts, bounds):
    """Count the n-grams of order 1..4 of texts given as runs of word ids.

    Entries of a text are grouped by order, inside an order by first occurrence: an order that is the text's own, so that
    sums over it do not depend on what was counted before. ``seen`` (one cell per n-gram) remembers the entry at which
    an n-gram stood last. Returns (n_grams, n_entries).
    """
    orders = bounds.shape[1] - 1
    for t in range(starts.shape[0] - 1):
        length = starts[t + 1] - starts[t]
        grams = words[starts[t] : starts[t + 1]].copy()
        bounds[t, 0] = n_entries
        for order in range(1, orders + 1):
            first = n_entries
            for p in range(length - order + 1):
                if order > 1:
                    key = (grams[p] << 32) | words[starts[t] + p + order - 1]
                    place = _slot(keys, key)
                    if keys[place] == EMPTY:
                        keys[place] = key
                        values[place] = n_grams
                        n_grams += 1
                    grams[p] = values[place]
                gram = grams[p]
                entry = seen[gram]
                if first <= entry < n_entries and ids[entry] == gram:
                    counts[entry] += 1
                else:
                    seen[gram] = n_entries
                    ids[n_entries] = gram
                    counts[n_entries] = 1
                    n_entries += 1
            bounds[t, order] = n_entries
    return n_grams, n_entries


@njit(cache=True, nogil=True)
def document_frequencies(rows, starts, bounds, ids, n_grams):
    """(n_grams,) number of documents that hold each n-gram; document d is the texts ``rows[starts[d]:starts[d+1]]``."""
    df = np.zeros(n_grams, dtype=np.int64)
    last = np.full(n_grams, -1, dtype=np.int64)
    orders = bounds.shape[1] - 1
    for d in range(starts.shape[0] - 1):
        for r in range(starts[d], starts[d + 1]):
            row = rows[r]
            for e in range(bounds[row, 0], bounds[row, orders]):
                gram = ids[e]
                if last[gram] != d:
                    last[gram] = d
                    df[gram] += 1
    return df
