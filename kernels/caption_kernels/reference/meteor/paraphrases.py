"""METEOR's paraphrase table while a lexicon is built: a trie of phrases over word numbers, and the paraphrases of each phrase.

The table is text with three lines per entry: a probability, which is not used, a phrase and a paraphrase of it.
"""

from __future__ import annotations

import re
from array import array
from typing import NamedTuple

import numpy as np

_BLANKS = re.compile(rb"[ \t\f\r]+")
"""The blanks of Java's StringTokenizer."""


class ParaphraseTable(NamedTuple):
    """Phrases as nodes of a trie, and their paraphrases; node 0 is the root."""

    words: list[bytes]
    """Words by number."""
    roots: np.ndarray
    """(words,) int32: node of each word as the first of a phrase, -1 for none."""
    edges: np.ndarray
    """(nodes,) uint64: the edge into each node, its parent times 2^32 plus its word."""
    first_target: np.ndarray
    """(nodes + 1,) int32: paraphrases of phrase v are ``targets[first_target[v]:first_target[v + 1]]``."""
    targets: np.ndarray
    """(entries,) int32 nodes, in the order of the table for each phrase."""


class ParaphraseReader:
    """Reads the table from blocks that end anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        self._kind = 0  # of the next line: 0 probability, 1 phrase, 2 paraphrase
        self._words: dict[bytes, int] = {}
        self._children: dict[int, int] = {}  # node by edge
        self._sources, self._targets = array("i"), array("i")

    def feed(self, data: bytes) -> None:
        """Read the next block."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._kind:
                (self._sources if self._kind == 1 else self._targets).append(self._node(line))
            self._kind = (self._kind + 1) % 3

    def finish(self) -> ParaphraseTable:
        """Return the table; raise :class:`ValueError` if it has no entry or ends inside one."""
        if self._rest:
            self.feed(b"\n")
        if self._kind or not self._targets:
            raise ValueError("METEOR's lexicon: the data are damaged or of another version")
        edges = np.fromiter((0, *self._children), dtype=np.uint64, count=1 + len(self._children))
        sources, targets = np.array(self._sources, dtype=np.int32), np.array(self._targets, dtype=np.int32)
        return ParaphraseTable(
            list(self._words),
            np.array([self._children.get(word, -1) for word in range(len(self._words))], dtype=np.int32),
            edges,
            bounds(sources, len(edges)),
            targets[np.argsort(sources, kind="stable")],
        )

    def _node(self, phrase: bytes) -> int:
        """Return the node of a phrase, added with its words if it is new."""
        node = 0
        for word in _BLANKS.split(phrase):
            if word:
                number = self._words.setdefault(word, len(self._words))
                node = self._children.setdefault(node << 32 | number, len(self._children) + 1)
        return node


def bounds(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the bounds (n_groups + 1,) int32 of each group among items sorted by their group ``groups`` (items,)."""
    counts = np.bincount(groups, minlength=n_groups)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
