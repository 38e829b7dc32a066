"""The compiled parser against plain Python: trie, breadth-first numbers and groups of pairs."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plugins.meteor.lexicon import paraphrase_kernels as kernels
from harness.plugins.meteor.lexicon.paraphrases import _empty, _with_room

phrase = st.lists(st.sampled_from(["a", "b", "bb", "über"]), min_size=1, max_size=3)


def parsed(blocks):
    """Return the table after each block of whole lines has been read."""
    table = _empty()
    table.counts[kernels.N_NODES] = 1
    for block in blocks:
        table = _with_room(table, len(block))
        kernels.read_lines(table, np.frombuffer(block, dtype=np.uint8))
    return table


def phrase_of(table, node):
    """Return the words on the path from the root to a node."""
    ends = [0, *table.ends.tolist()]
    words = []
    while node:
        label = int(table.labels[node])
        words.append(table.text[ends[label] : ends[label + 1]].tobytes().decode())
        node = int(table.parents[node])
    return words[::-1]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(phrase, phrase), min_size=1, max_size=8), st.integers(1, 30), st.sampled_from([" ", "\t ", "\f"])
)
def test_lines_become_pairs_of_phrases(entries, lines_per_block, blank):
    lines = [f"{line}\n".encode() for a, b in entries for line in ("0.5", blank.join(a), blank.join(b))]
    table = parsed(b"".join(lines[k : k + lines_per_block]) for k in range(0, len(lines), lines_per_block))
    n_pairs = int(table.counts[kernels.N_PAIRS])
    pairs = [(phrase_of(table, int(table.sources[k])), phrase_of(table, int(table.targets[k]))) for k in range(n_pairs)]
    assert pairs == entries
    assert table.counts[kernels.LINE_KIND] == 0
    phrases = {tuple(side[:k]) for entry in entries for side in entry for k in range(1, len(side) + 1)}
    assert table.counts[kernels.N_NODES] == 1 + len(phrases)


def test_slots_are_filled_again_after_they_were_replaced():
    before = parsed([b"0.5\na b\nc\n"])
    table = before._replace(word_slots=np.full(64, -1, dtype=np.int32), node_slots=np.full(64, -1, dtype=np.int32))
    kernels.refill(table)
    assert sorted(word for word in table.word_slots.tolist() if word >= 0) == [0, 1, 2]
    assert sorted(node for node in table.node_slots.tolist() if node >= 0) == [1, 2, 3]
    table = _with_room(table, 20)
    kernels.read_lines(table, np.frombuffer(b"0.5\na b\nc\n", dtype=np.uint8))
    assert table.counts[kernels.N_WORDS] == 3  # the words and phrases are recognised
    assert table.counts[kernels.N_NODES] == 4


@st.composite
def tries(draw):
    """Return (parents, labels) of a random trie, each node after its parent."""
    size, labels = draw(st.integers(1, 12)), 4
    edges = {}
    parents, words = [0], [0]
    for node in range(1, size):
        free = [(parent, label) for parent in range(node) for label in range(labels) if (parent, label) not in edges]
        parent, label = draw(st.sampled_from(free))
        edges[parent, label] = node
        parents.append(parent)
        words.append(label)
    return np.array(parents, dtype=np.int32), np.array(words, dtype=np.int32)


@given(tries())
@settings(deadline=None)
def test_nodes_are_numbered_breadth_first_and_by_label(trie):
    parents, labels = trie
    number, children = kernels.number_nodes(parents, labels, 4)
    order, level = [0], [0]
    while level:
        level = [
            node
            for parent in level
            for node in sorted(
                (node for node in range(1, len(parents)) if parents[node] == parent), key=lambda node: labels[node]
            )
        ]
        order += level
    assert number.tolist() == [order.index(node) for node in range(len(parents))]
    assert children.tolist() == [int((parents[1:] == node).sum()) for node in order]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12), st.permutations(range(5)))
@settings(deadline=None)
def test_pairs_are_grouped_by_source_in_their_order(pairs, numbers):
    sources, targets = (np.array([pair[k] for pair in pairs], dtype=np.int32) for k in range(2))
    number = np.array(numbers, dtype=np.int32)
    bounds, grouped = kernels.group_pairs(sources, targets, number)
    runs = [grouped[start:stop].tolist() for start, stop in itertools.pairwise(bounds)]
    assert runs == [[numbers[b] for a, b in pairs if numbers[a] == node] for node in range(5)]
