"""Compiled preparation of a group: word relations and paraphrases that all pairs of the group share.

A group is a small set of texts that are compared with one another; see :mod:`harness.plugins.meteor.kernels.pairs`. The formulas are
the matchers of :class:`harness.plugins.meteor.reference.Aligner`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER
from harness.plugins.compiled.checked_cache import cached

_EXACT, _STEM, _SYNONYM = range(3)


class Scratch(NamedTuple):
    """Work arrays of one thread, all int32; every entry is -1 between two groups."""

    word: np.ndarray
    """(words,) index of a word in the group's list of distinct words."""
    key: np.ndarray
    """(hash numbers,) head of the chain of words with this key."""
    stem: np.ndarray
    """(hash numbers,) head of the chain of words with this stem."""
    synset: np.ndarray
    """(synonym sets,) head of the chain of words in this set."""


class GroupWords(NamedTuple):
    """The words of a group and the matches among its distinct words."""

    starts: np.ndarray
    """(texts + 1,) int64 bounds of each text in ``words``."""
    words: np.ndarray
    """(sum of lengths,) int32 indices in ``distinct``."""
    distinct: np.ndarray
    """(D,) int32 word ids."""
    related_starts: np.ndarray
    """(D + 1,) int64 bounds of each distinct word in ``related`` and ``codes``."""
    related: np.ndarray
    """int32 indices of the words that match a word by the exact, stem or synonym module."""
    codes: np.ndarray
    """uint8 bit set of these modules: 1 exact, 2 stem, 4 synonym."""


class GroupPhrases(NamedTuple):
    """The phrases of a group that have a paraphrase in the group, and their occurrences by text."""

    starts: np.ndarray
    """(texts + 1,) int64 bounds of each text in ``phrases``, ``at`` and ``length``."""
    phrases: np.ndarray
    """int32 number of the phrase within the group (F phrases)."""
    at: np.ndarray
    """int32 position of the occurrence's first word."""
    length: np.ndarray
    """int32 number of words of the occurrence."""
    target_starts: np.ndarray
    """(F + 1,) int64 bounds of each phrase in ``targets``."""
    targets: np.ndarray
    """int32 numbers of each phrase's paraphrases within the group, in the order of the table."""
    heads: np.ndarray
    """(texts, F) int32 first occurrence of a phrase in a text, -1 for none."""
    following: np.ndarray
    """int32 next occurrence of the same phrase in the same text, -1 for none."""


# ---------------------------------------------------------------------- per text
@njit(**INNER)
def _child(table, node, word):
    """Return the node reached from ``node`` by ``word``, or -1 (binary search)."""
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
def _enlarged(array, size):
    """Return a copy of ``array`` with room for ``size`` entries and at least twice as long."""
    out = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    for k in range(array.shape[0]):  # a slice assignment takes numba seconds to compile
        out[k] = array[k]
    return out


@cached
def find_phrases(starts, words, roots, table):
    """Return every occurrence of a phrase of the table, by text, position and length.

    Parameters
    ----------
    starts : (texts + 1,) int64
        Bounds of each text in ``words``.
    words : (sum of lengths,) int32
        Word ids of the paraphrase table, -1 for a word that is not in the table.
    roots : (sum of lengths,) int32
        Node of each word as the first word of a phrase, -1 for none.
    table : ParaphraseTable

    Returns
    -------
    bounds : (texts + 1,) int64
        Bounds of each text in the three arrays below.
    nodes, at, length : (occurrences,) int32
        Node, first word and number of words of each occurrence.
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
                    nodes, at, length = _enlarged(nodes, n + 1), _enlarged(at, n + 1), _enlarged(length, n + 1)
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
def _localise(texts, ids, words, scratch):
    """Return bounds (texts + 1,), words as indices in the list of distinct words, and that list."""
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
            if scratch.word[word] < 0:
                scratch.word[word] = n
                distinct[n] = word
                n += 1
            places[starts[t] + k] = scratch.word[word]
    for k in range(n):
        scratch.word[distinct[k]] = -1
    return starts, places, distinct[:n]


@njit(**INNER)
def _chains(distinct, words, scratch):
    """Link the words that share a key, a stem or a synonym set; ``scratch`` receives the head of each chain."""
    n = distinct.shape[0]
    by_key, by_stem = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = 0
    for k in range(n):
        size += words.synset_starts[distinct[k] + 1] - words.synset_starts[distinct[k]]
    by_synset, member = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    link = 0
    for k in range(n):
        word = distinct[k]
        by_key[k], scratch.key[words.keys[word]] = scratch.key[words.keys[word]], k
        by_stem[k], scratch.stem[words.stems[word]] = scratch.stem[words.stems[word]], k
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            synset = words.synset_ids[s]
            by_synset[link], member[link] = scratch.synset[synset], k
            scratch.synset[synset] = link
            link += 1
    return by_key, by_stem, by_synset, member


@njit(**INNER)
def _clear_heads(distinct, words, scratch):
    """Reset the chain heads of the group's words to -1."""
    for k in range(distinct.shape[0]):
        word = distinct[k]
        scratch.key[words.keys[word]] = -1
        scratch.stem[words.stems[word]] = -1
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            scratch.synset[words.synset_ids[s]] = -1


@njit(**INNER)
def _relate(seen, out, n, other, code):
    """Set a module bit of the word ``other``, append the word to ``out`` if it is new, and return the number of words."""
    if seen[other] == 0:
        out[n] = other
        n += 1
    seen[other] |= code
    return n


@njit(**INNER)
def _relations_of(k, distinct, words, scratch, chains, seen, out):
    """Write the words that match word ``k`` to ``out`` and their module bits to ``seen``; return their number."""
    by_key, by_stem, by_synset, member = chains
    word, n = distinct[k], np.int64(0)
    other = scratch.key[words.keys[word]]
    while other >= 0:
        n = _relate(seen, out, n, other, 1 << _EXACT)
        other = by_key[other]
    other = scratch.stem[words.stems[word]]
    while other >= 0:
        if words.keys[distinct[other]] != words.keys[word]:
            n = _relate(seen, out, n, other, 1 << _STEM)
        other = by_stem[other]
    for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
        link = scratch.synset[words.synset_ids[s]]
        while link >= 0:
            if words.keys[distinct[member[link]]] != words.keys[word]:
                n = _relate(seen, out, n, member[link], 1 << _SYNONYM)
            link = by_synset[link]
    return n


@njit(**INNER)
def group_words(texts, ids, words, scratch):
    """Return the :class:`GroupWords` of the texts ``ids`` (T,)."""
    starts, places, distinct = _localise(texts, ids, words, scratch)
    chains = _chains(distinct, words, scratch)
    n_words = distinct.shape[0]
    seen, row = np.zeros(n_words, dtype=np.uint8), np.empty(n_words, dtype=np.int32)
    bounds = np.zeros(n_words + 1, dtype=np.int64)
    related, codes = np.empty(2 * n_words + 8, dtype=np.int32), np.empty(2 * n_words + 8, dtype=np.uint8)
    for k in range(n_words):
        n = _relations_of(k, distinct, words, scratch, chains, seen, row)
        first = bounds[k]
        if first + n > related.shape[0]:
            related, codes = _enlarged(related, first + n), _enlarged(codes, first + n)
        for r in range(n):
            related[first + r], codes[first + r] = row[r], seen[row[r]]
            seen[row[r]] = 0
        bounds[k + 1] = first + n
    _clear_heads(distinct, words, scratch)
    return GroupWords(starts, places, distinct, bounds, related, codes)


# ---------------------------------------------------------------------- per group: phrases
@njit(**INNER)
def _slot(slots, nodes, node):
    """Return the slot of a phrase in the open-addressing table, or the free slot that it would take."""
    mask = slots.shape[0] - 1
    place = (node * 0x9E3779B1 >> 12) & mask
    while slots[place] >= 0 and nodes[slots[place]] != node:
        place = (place + 1) & mask
    return place


@njit(**INNER)
def _number_phrases(texts, ids):
    """Return the number of each occurrence's phrase within the group, the node of each number, and the slots of the nodes."""
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
    """Return bounds (F + 1,) and numbers of each phrase's paraphrases within the group, in the order of the table."""
    bounds = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    targets = np.empty(nodes.shape[0] * 4 + 16, dtype=np.int32)
    n = 0
    for k in range(nodes.shape[0]):
        for e in range(table.first_target[nodes[k]], table.first_target[nodes[k] + 1]):
            other = slots[_slot(slots, nodes, np.int64(table.targets[e]))]
            if other >= 0:
                if n == targets.shape[0]:
                    targets = _enlarged(targets, n + 1)
                targets[n] = other
                n += 1
        bounds[k + 1] = n
    return bounds, targets[:n]


@njit(**INNER)
def group_phrases(texts, ids, table):
    """Return the :class:`GroupPhrases` of the texts ``ids`` (T,)."""
    numbers, nodes, slots = _number_phrases(texts, ids)
    target_starts, targets = _targets(nodes, slots, table)
    useful = np.zeros(nodes.shape[0], dtype=np.uint8)  # the phrase has a paraphrase in the group or is one
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
        for o in range(n - 1, starts[t] - 1, -1):  # backwards, so that each chain runs forwards
            following[o] = heads[t, phrases[o]]
            heads[t, phrases[o]] = o
    return GroupPhrases(starts, phrases, at, length, target_starts, targets, heads, following)
