"""Compiled reading of METEOR's paraphrase table into a trie; imported only when the lexicon cache is built (numba).

The table is text, three lines an entry: a probability (unused), phrase A, phrase B. Words become ids, phrases become nodes
of one trie, entries become pairs of nodes, all in the order of the file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.text.compiled import INNER

N_WORDS, N_BYTES, N_NODES, N_PAIRS, LINE_KIND, NODE_A = range(6)
_LINE_FEED, _CARRIAGE_RETURN = 10, 13


class Building(NamedTuple):
    """Growing arrays of the table under construction; the used lengths stand in ``counts``."""

    counts: np.ndarray
    """(6,) int64: words, bytes of words, nodes, pairs, kind of the next line (0 probability, 1 A, 2 B), node of the open A."""
    text: np.ndarray
    """uint8, the words' bytes one after the other."""
    ends: np.ndarray
    """int64, where each word ends in ``text``."""
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
    h = np.uint64(value)  # the finaliser of splitmix64 (Steele et al. 2014)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(**INNER)
def _word_place(b, data, start, stop):
    """Slot of the word ``data[start:stop]``: where it is, or the free slot where it belongs."""
    h = np.uint64(0xCBF29CE484222325)  # FNV-1a
    for i in range(start, stop):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
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


@njit(**INNER)
def _word(b, data, start, stop):
    place = _word_place(b, data, start, stop)
    word = b.word_slots[place]
    if word < 0:
        word = b.counts[N_WORDS]
        size = b.counts[N_BYTES]
        for i in range(stop - start):
            b.text[size + i] = data[start + i]
        b.counts[N_BYTES] = b.ends[word] = size + stop - start
        b.counts[N_WORDS] += 1
        b.word_slots[place] = word
    return word


@njit(**INNER)
def _child(b, node, word):
    mask = np.uint64(b.node_slots.shape[0] - 1)
    place = _mix((np.int64(node) << 32) | np.int64(word)) & mask
    while True:
        child = b.node_slots[place]
        if child < 0:
            child = b.counts[N_NODES]
            b.counts[N_NODES] += 1
            b.parents[child] = node
            b.labels[child] = word
            b.node_slots[place] = child
            return child
        if b.parents[child] == node and b.labels[child] == word:
            return child
        place = (place + np.uint64(1)) & mask


@njit(**INNER)
def _phrase(b, data, start, stop):
    """Node of the phrase on one line; words are separated by Java's StringTokenizer blanks."""
    node = 0
    word_start = start
    for i in range(start, stop + 1):
        if i == stop or data[i] == 32 or data[i] == 9 or data[i] == 12 or data[i] == _CARRIAGE_RETURN:
            if i > word_start:
                node = _child(b, node, _word(b, data, word_start, i))
            word_start = i + 1
    return node


@njit(cache=True, nogil=True)
def read_lines(b, data):
    """Take in whole lines (uint8, ending in a line feed). Nine of ten entries repeat the phrase A before them, byte for byte."""
    start = 0
    known, known_length = 0, -1  # where the last phrase A of this block stands
    for i in range(data.shape[0]):
        if data[i] != _LINE_FEED:
            continue
        kind = b.counts[LINE_KIND]
        if kind == 1:
            same = known_length == i - start
            if same:
                for k in range(known_length):
                    if data[known + k] != data[start + k]:
                        same = False
                        break
            if not same:
                b.counts[NODE_A] = _phrase(b, data, start, i)
            known, known_length = start, i - start
        elif kind == 2:
            node = _phrase(b, data, start, i)
            pair = b.counts[N_PAIRS]
            b.sources[pair] = b.counts[NODE_A]
            b.targets[pair] = node
            b.counts[N_PAIRS] += 1
        b.counts[LINE_KIND] = (kind + 1) % 3
        start = i + 1


@njit(cache=True, nogil=True)
def refill(b):
    """Put all words and nodes into fresh (larger) slot tables."""
    for word in range(b.counts[N_WORDS]):
        start = b.ends[word - 1] if word else 0
        b.word_slots[_word_place(b, b.text, start, b.ends[word])] = word
    mask = np.uint64(b.node_slots.shape[0] - 1)
    for node in range(1, b.counts[N_NODES]):
        place = _mix((np.int64(b.parents[node]) << 32) | np.int64(b.labels[node])) & mask
        while b.node_slots[place] >= 0:
            place = (place + np.uint64(1)) & mask
        b.node_slots[place] = node
