"""Compiled loops of :mod:`harness.plugins.ngram.index`; imported only when n-grams are counted (numba).

An open-addressing hash table maps a prefix and a word, ``prefix << 32 | word``, to the id of the extended n-gram: arrays ``keys``
(int64, ``EMPTY`` where free) and ``values`` (int32) of the same length, a power of two.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER
from harness.plugins.compiled.checked_cache import cached

EMPTY = -1
"""Key of a free cell of the table."""


@njit(**INNER)
def _slot(keys, key):
    """Return the place of ``key`` in the table, or of the free cell where it belongs."""
    mask = np.uint64(keys.shape[0] - 1)
    h = np.uint64(key)  # the finaliser of splitmix64 (Steele et al. 2014)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    place = (h ^ (h >> np.uint64(31))) & mask
    while keys[place] != EMPTY and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@cached
def rehash(keys, values, new_keys, new_values):
    """Copy every entry of a table into a larger, empty one."""
    for i in range(keys.shape[0]):
        if keys[i] != EMPTY:
            place = _slot(new_keys, keys[i])
            new_keys[place] = keys[i]
            new_values[place] = values[i]


@cached
def extend_grams(words, prefix, keys, values, n_grams):
    """Return the ids (K,) of the n-grams prefix + word, and the new number of n-grams.

    ``words`` (K,) word ids; ``prefix`` (K,) n-gram ids. New n-grams are numbered from ``n_grams`` on.
    """
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


@cached
def count_texts(words, starts, keys, values, n_grams, seen, n_entries, ids, counts, bounds):
    """Count the n-grams of order 1 to 4 of T texts; return the new numbers of n-grams and of entries.

    Text t is ``words[starts[t] : starts[t + 1]]``, word ids. Its entries are appended to ``ids`` and ``counts``, grouped by
    order, within an order by first occurrence in the text: sums over entries do not depend on the texts counted before.
    ``bounds`` (T, 5) receives the first entry of each order. ``seen`` (n_grams,) holds the last entry of each n-gram.
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


@cached
def document_frequencies(rows, starts, bounds, ids, n_grams):
    """Return the number of documents that contain each n-gram, shape (n_grams,), int64.

    Document d consists of the texts ``rows[starts[d] : starts[d + 1]]``.
    """
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
