"""Compiled parser of METEOR's paraphrase table; imported only to build the lexicon cache (numba).

The table is text with three lines per entry: a probability (unused), phrase A and phrase B. Words become ids, phrases become nodes of a
trie and entries become pairs of nodes, all numbered in the order of the file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER
from harness.plugins.compiled.checked_cache import cached

N_WORDS, N_BYTES, N_NODES, N_PAIRS, LINE_KIND, NODE_A = range(6)
_LINE_FEED, _CARRIAGE_RETURN = 10, 13
_FNV, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a


class Building(NamedTuple):
    """Arrays of the table under construction, with spare room; ``counts`` holds the used lengths."""

    counts: np.ndarray
    """(6,) int64: words, bytes of words, nodes, pairs, kind of the next line (0 probability, 1 A, 2 B), node of the last A."""
    text: np.ndarray
    """uint8, the concatenated bytes of the words."""
    ends: np.ndarray
    """int64, end of each word in ``text``."""
    word_slots: np.ndarray
    """int32 open-addressing table of word ids, -1 free."""
    parents: np.ndarray
    """int32, parent of each node; node 0 is the root."""
    labels: np.ndarray
    """int32, word on the edge into each node."""
    node_slots: np.ndarray
    """int32 open-addressing table of node ids by (parent, label), -1 free."""
    sources: np.ndarray
    """int32, node of phrase A of each entry."""
    targets: np.ndarray
    """int32, node of phrase B of each entry."""


@njit(**INNER)
def _mix(value):
    """Return the 64-bit hash of an integer (finaliser of splitmix64, Steele et al. 2014)."""
    h = np.uint64(value)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(**INNER)
def _word_place(b, data, start, stop):
    """Return the slot of the word ``data[start:stop]``, or the free slot that it would take."""
    h = _FNV
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * _FNV_PRIME
    mask = np.uint64(b.word_slots.shape[0] - 1)
    place = _mix(h) & mask
    while True:
        word = b.word_slots[place]
        if word < 0:
            return place
        first = b.ends[word - 1] if word else 0
        if b.ends[word] - first == stop - start:
            same = True
            for i in range(stop - start):
                if b.text[first + i] != data[start + i]:
                    same = False
                    break
            if same:
                return place
        place = (place + np.uint64(1)) & mask


@cached
def read_lines(b, data):
    """Add whole lines, ``data`` (bytes,) uint8 that ends in a line feed, to the table ``b``.

    Words are separated by the blanks of Java's StringTokenizer. Nine of ten entries repeat the phrase A of the previous entry
    byte for byte, so a repeated line is not parsed again. It is one long function because each array that is passed on costs
    two atomic reference counts per word.
    """
    counts, text, ends, word_slots = b.counts, b.text, b.ends, b.word_slots
    parents, labels, node_slots, sources, targets = b.parents, b.labels, b.node_slots, b.sources, b.targets
    word_mask, node_mask = np.uint64(word_slots.shape[0] - 1), np.uint64(node_slots.shape[0] - 1)
    words, size, nodes, pairs = counts[N_WORDS], counts[N_BYTES], counts[N_NODES], counts[N_PAIRS]
    kind, node_a = counts[LINE_KIND], counts[NODE_A]
    start = 0
    last, last_length = 0, -1  # the last phrase A of this block
    for i in range(data.shape[0]):
        if data[i] != _LINE_FEED:
            continue
        repeated = kind == 1 and last_length == i - start
        if repeated:
            for k in range(last_length):
                if data[last + k] != data[start + k]:
                    repeated = False
                    break
        if kind and not repeated:
            node = np.int64(0)
            first, h = start, _FNV
            for k in range(start, i + 1):
                byte = data[k]
                if not (byte == 32 or byte == 9 or byte == 12 or byte == _CARRIAGE_RETURN or k == i):
                    h = (h ^ np.uint64(byte)) * _FNV_PRIME
                    continue
                if k > first:
                    place = _mix(h) & word_mask
                    word = np.int64(word_slots[place])
                    while word >= 0:
                        head = ends[word - 1] if word else 0
                        same = ends[word] - head == k - first
                        if same:
                            for c in range(k - first):
                                if text[head + c] != data[first + c]:
                                    same = False
                                    break
                        if same:
                            break
                        place = (place + np.uint64(1)) & word_mask
                        word = np.int64(word_slots[place])
                    if word < 0:
                        word = words
                        for c in range(k - first):
                            text[size + c] = data[first + c]
                        size += k - first
                        ends[word] = size
                        words += 1
                        word_slots[place] = word
                    place = _mix((node << 32) | word) & node_mask
                    child = np.int64(node_slots[place])
                    while child >= 0 and (parents[child] != node or labels[child] != word):
                        place = (place + np.uint64(1)) & node_mask
                        child = np.int64(node_slots[place])
                    if child < 0:
                        child = nodes
                        nodes += 1
                        parents[child], labels[child] = node, word
                        node_slots[place] = child
                    node = child
                first, h = k + 1, _FNV
            if kind == 1:
                node_a = node
            else:
                sources[pairs], targets[pairs] = node_a, node
                pairs += 1
        if kind == 1:
            last, last_length = start, i - start
        kind = (kind + 1) % 3
        start = i + 1
    counts[N_WORDS], counts[N_BYTES], counts[N_NODES], counts[N_PAIRS] = words, size, nodes, pairs
    counts[LINE_KIND], counts[NODE_A] = kind, node_a


@cached
def refill(b):
    """Insert all words and nodes into new, empty slot tables."""
    for word in range(b.counts[N_WORDS]):
        start = b.ends[word - 1] if word else 0
        b.word_slots[_word_place(b, b.text, start, b.ends[word])] = word
    mask = np.uint64(b.node_slots.shape[0] - 1)
    for node in range(1, b.counts[N_NODES]):
        place = _mix((np.int64(b.parents[node]) << 32) | np.int64(b.labels[node])) & mask
        while b.node_slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        b.node_slots[place] = node


@cached
def number_nodes(parents, labels, n_words):
    """Number the nodes breadth first: the root is 0, siblings are ordered by label.

    Parameters
    ----------
    parents, labels : (nodes,) int32
        Parent of each node, which precedes the node, and word on the edge into it.
    n_words : int
        Number of different labels.

    Returns
    -------
    number : (nodes,) int32
        New number of each node.
    children : (nodes,) int32
        Number of children by new number.
    """
    n = parents.shape[0]
    place = np.zeros(n_words + 1, dtype=np.int64)
    depth = np.zeros(n, dtype=np.int32)
    deepest = np.int32(0)
    for node in range(1, n):
        place[labels[node] + 1] += 1
        depth[node] = depth[parents[node]] + 1
        deepest = max(deepest, depth[node])
    for label in range(n_words):
        place[label + 1] += place[label]
    # Counting sorts: all nodes by label, then each level by parent.
    by_label = np.empty(n - 1, dtype=np.int32)
    for node in range(1, n):
        by_label[place[labels[node]]] = node
        place[labels[node]] += 1
    number, children = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    next_child = np.zeros(n + 1, dtype=np.int32)
    first, last = 0, 1  # the level above has the numbers first to last - 1
    for level in range(1, deepest + 1):
        for k in range(n - 1):
            if depth[by_label[k]] == level:
                children[number[parents[by_label[k]]]] += 1
        at = last
        for above in range(first, last):
            next_child[above] = at
            at += children[above]
        for k in range(n - 1):
            node = by_label[k]
            if depth[node] == level:
                above = number[parents[node]]
                number[node] = next_child[above]
                next_child[above] += 1
        first, last = last, at
    return number, children


@cached
def group_pairs(sources, targets, number):
    """Group pairs of nodes by source.

    Parameters
    ----------
    sources, targets : (pairs,) int32
        Nodes of each pair.
    number : (nodes,) int32
        New number of each node.

    Returns
    -------
    bounds : (nodes + 1,) int32
        Bounds of each new number in ``grouped``.
    grouped : (pairs,) int32
        New numbers of the targets, in the order of the input within each group.
    """
    bounds = np.zeros(number.shape[0] + 1, dtype=np.int32)
    for k in range(sources.shape[0]):
        bounds[number[sources[k]] + 1] += 1
    for node in range(number.shape[0]):
        bounds[node + 1] += bounds[node]
    place = bounds.copy()
    grouped = np.empty(targets.shape[0], dtype=np.int32)
    for k in range(sources.shape[0]):
        source = number[sources[k]]
        grouped[place[source]] = number[targets[k]]
        place[source] += 1
    return bounds, grouped
