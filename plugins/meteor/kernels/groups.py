"""What the pairs of a group share, compiled: which words match which, and which paraphrases can occur at all.

A group is a handful of texts that are compared with one another; see :mod:`harness.plugins.meteor.kernels.pairs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER

_EXACT, _STEM, _SYNONYM = range(3)


class Stamps(NamedTuple):
    """Scratch by word, by hash number and by synonym set; -1 between groups."""

    word: np.ndarray
    key: np.ndarray
    stem: np.ndarray
    synset: np.ndarray


class Local(NamedTuple):
    """The words of a group: distinct words, and which of them match which."""

    starts: np.ndarray
    """(texts + 1,) bounds in ``words``."""
    words: np.ndarray
    """Each text's words as places in ``distinct``."""
    distinct: np.ndarray
    """Word ids."""
    related_starts: np.ndarray
    related: np.ndarray
    """Words that match a word, by any of the first three modules."""
    codes: np.ndarray
    """uint8 bits of those modules."""


class Phrasing(NamedTuple):
    """The phrases of a group: for each of its texts, occurrences whose phrase has a paraphrase in the group."""

    starts: np.ndarray
    """(texts + 1,) bounds in the three arrays below."""
    phrases: np.ndarray
    at: np.ndarray
    length: np.ndarray
    target_starts: np.ndarray
    targets: np.ndarray
    """Paraphrases, inside the group, of each phrase in the order of the table."""
    heads: np.ndarray
    """(texts, phrases) first occurrence of a phrase in a text, -1 for none."""
    following: np.ndarray
    """Next occurrence of the same phrase in the same text, -1 for none."""


# ---------------------------------------------------------------------- per text
@njit(**INNER)
def _child(table, node, word):
    low, high = table.first_edge[node], table.first_edge[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if table.edge_words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < table.first_edge[node + 1] and table.edge_words[low] == word:
        return low + 1
    return -1


@njit(**INNER)
def grown(array, size):
    out = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    for k in range(array.shape[0]):  # as a slice, numba compiles a broadcast and its messages: seconds
        out[k] = array[k]
    return out


@njit(cache=True, nogil=True)
def find_phrases(starts, words, roots, table):
    """Every occurrence of a phrase of the table: (bounds by text, node, first word, length), by position and length.

    ``words``: the texts' ids in the table, -1 for none; ``roots``: the node of each of these words as a phrase's first, -1 for none.
    """
    bounds = np.zeros(starts.shape[0], dtype=np.int64)
    nodes = np.empty(words.shape[0] * 4 + 16, dtype=np.int32)
    at, length = np.empty_like(nodes), np.empty_like(nodes)
    n = 0
    for t in range(starts.shape[0] - 1):
        for first in range(starts[t], starts[t + 1]):
            node = np.int64(roots[first])
            last = first
            while node >= 0:
                if n == nodes.shape[0]:
                    nodes, at, length = grown(nodes, n + 1), grown(at, n + 1), grown(length, n + 1)
                nodes[n], at[n], length[n] = node, first - starts[t], last + 1 - first
                n += 1
                last += 1
                if last == starts[t + 1] or words[last] < 0:
                    break
                node = _child(table, node, words[last])
        bounds[t + 1] = n
    return bounds, nodes[:n], at[:n], length[:n]


# ---------------------------------------------------------------------- per group: words
@njit(**INNER)
def _localise(texts, ids, words, stamps):
    """The group's words: bounds, places in the list of distinct words, that list."""
    starts = np.zeros(ids.shape[0] + 1, dtype=np.int64)
    for t in range(ids.shape[0]):
        starts[t + 1] = starts[t] + texts.word_starts[ids[t] + 1] - texts.word_starts[ids[t]]
    places = np.empty(starts[-1], dtype=np.int32)
    distinct = np.empty(starts[-1], dtype=np.int32)
    n = 0
    for t in range(ids.shape[0]):
        first = texts.word_starts[ids[t]]
        for k in range(starts[t + 1] - starts[t]):
            word = texts.words[first + k]
            if stamps.word[word] < 0:
                stamps.word[word] = n
                distinct[n] = word
                n += 1
            places[starts[t] + k] = stamps.word[word]
    for k in range(n):
        stamps.word[distinct[k]] = -1
    return starts, places, distinct[:n]


@njit(**INNER)
def _chains(distinct, words, stamps):
    """Link the words that share a key, a stem or a synonym set; the heads stand in ``stamps``."""
    n = distinct.shape[0]
    by_key, by_stem = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = 0
    for k in range(n):
        size += words.synset_starts[distinct[k] + 1] - words.synset_starts[distinct[k]]
    by_synset, member = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    link = 0
    for k in range(n):
        word = distinct[k]
        by_key[k], stamps.key[words.keys[word]] = stamps.key[words.keys[word]], k
        by_stem[k], stamps.stem[words.stems[word]] = stamps.stem[words.stems[word]], k
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            synset = words.synset_ids[s]
            by_synset[link], member[link] = stamps.synset[synset], k
            stamps.synset[synset] = link
            link += 1
    return by_key, by_stem, by_synset, member


@njit(**INNER)
def _unstamp(distinct, words, stamps):
    for k in range(distinct.shape[0]):
        word = distinct[k]
        stamps.key[words.keys[word]] = -1
        stamps.stem[words.stems[word]] = -1
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            stamps.synset[words.synset_ids[s]] = -1


@njit(**INNER)
def _relate(seen, out, n, other, code):
    if seen[other] == 0:
        out[n] = other
        n += 1
    seen[other] |= code
    return n


@njit(**INNER)
def _relations_of(k, distinct, words, stamps, chains, seen, out):
    """List in ``out`` the words that match word ``k``, their module bits in ``seen``; returns their number."""
    by_key, by_stem, by_synset, member = chains
    word, n = distinct[k], np.int64(0)
    other = stamps.key[words.keys[word]]
    while other >= 0:
        n = _relate(seen, out, n, other, 1 << _EXACT)
        other = by_key[other]
    other = stamps.stem[words.stems[word]]
    while other >= 0:
        if words.keys[distinct[other]] != words.keys[word]:
            n = _relate(seen, out, n, other, 1 << _STEM)
        other = by_stem[other]
    for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
        link = stamps.synset[words.synset_ids[s]]
        while link >= 0:
            if words.keys[distinct[member[link]]] != words.keys[word]:
                n = _relate(seen, out, n, member[link], 1 << _SYNONYM)
            link = by_synset[link]
    return n


@njit(**INNER)
def group_words(texts, ids, words, stamps):
    starts, places, distinct = _localise(texts, ids, words, stamps)
    chains = _chains(distinct, words, stamps)
    n_words = distinct.shape[0]
    seen, row = np.zeros(n_words, dtype=np.uint8), np.empty(n_words, dtype=np.int32)
    bounds = np.zeros(n_words + 1, dtype=np.int64)
    related, codes = np.empty(2 * n_words + 8, dtype=np.int32), np.empty(2 * n_words + 8, dtype=np.uint8)
    for k in range(n_words):
        n = _relations_of(k, distinct, words, stamps, chains, seen, row)
        first = bounds[k]
        if first + n > related.shape[0]:
            related, codes = grown(related, first + n), grown(codes, first + n)
        for r in range(n):
            related[first + r], codes[first + r] = row[r], seen[row[r]]
            seen[row[r]] = 0
        bounds[k + 1] = first + n
    _unstamp(distinct, words, stamps)
    return Local(starts, places, distinct, bounds, related, codes)


# ---------------------------------------------------------------------- per group: phrases
@njit(**INNER)
def _slot(slots, nodes, node):
    """Place of a phrase in the open-addressing table, or the free one where it belongs."""
    mask = slots.shape[0] - 1
    place = (node * 0x9E3779B1 >> 12) & mask
    while slots[place] >= 0 and nodes[slots[place]] != node:
        place = (place + 1) & mask
    return place


@njit(**INNER)
def _number_phrases(texts, ids):
    """Local numbers of the group's phrases: (number of each occurrence, nodes, slots)."""
    size = 0
    for t in ids:
        size += texts.phrase_starts[t + 1] - texts.phrase_starts[t]
    room = 64
    while room < 4 * size:
        room *= 2
    slots = np.full(room, -1, dtype=np.int32)
    nodes, numbers = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int32)
    n = k = 0
    for t in ids:
        for o in range(texts.phrase_starts[t], texts.phrase_starts[t + 1]):
            node = np.int64(texts.phrases[o])
            place = _slot(slots, nodes, node)
            if slots[place] < 0:
                slots[place] = n
                nodes[n] = node
                n += 1
            numbers[k] = slots[place]
            k += 1
    return numbers, nodes[:n], slots


@njit(**INNER)
def _targets(nodes, slots, table):
    """Paraphrases inside the group of each of its phrases, in the order of the table."""
    bounds = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    targets = np.empty(nodes.shape[0] * 4 + 16, dtype=np.int32)
    n = 0
    for k in range(nodes.shape[0]):
        for e in range(table.first_target[nodes[k]], table.first_target[nodes[k] + 1]):
            other = slots[_slot(slots, nodes, np.int64(table.targets[e]))]
            if other >= 0:
                if n == targets.shape[0]:
                    targets = grown(targets, n + 1)
                targets[n] = other
                n += 1
        bounds[k + 1] = n
    return bounds, targets[:n]


@njit(**INNER)
def group_phrases(texts, ids, table):
    numbers, nodes, slots = _number_phrases(texts, ids)
    target_starts, targets = _targets(nodes, slots, table)
    useful = np.zeros(nodes.shape[0], dtype=np.uint8)  # has a paraphrase in the group, or is one
    for k in range(nodes.shape[0]):
        for e in range(target_starts[k], target_starts[k + 1]):
            useful[k] = useful[targets[e]] = 1
    starts = np.zeros(ids.shape[0] + 1, dtype=np.int64)
    phrases, at, length = np.empty_like(numbers), np.empty_like(numbers), np.empty_like(numbers)
    heads = np.full((ids.shape[0], nodes.shape[0]), -1, dtype=np.int32)
    following = np.full(numbers.shape[0], -1, dtype=np.int32)
    n = k = 0
    for t in range(ids.shape[0]):
        for o in range(texts.phrase_starts[ids[t]], texts.phrase_starts[ids[t] + 1]):
            if useful[numbers[k]]:
                phrases[n], at[n], length[n] = numbers[k], texts.phrase_at[o], texts.phrase_length[o]
                n += 1
            k += 1
        starts[t + 1] = n
        for o in range(n - 1, starts[t] - 1, -1):  # backwards, so that chains run forwards
            following[o] = heads[t, phrases[o]]
            heads[t, phrases[o]] = o
    return Phrasing(starts, phrases, at, length, target_starts, targets, heads, following)
