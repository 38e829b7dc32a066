"""METEOR's paraphrase table while a lexicon is built: a trie of phrases over word
numbers, and the paraphrases of each phrase.

The table is text with three lines per entry: a probability, which is not used, a phrase
and a paraphrase of it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from caption_kernels.lexicon.file_format import bounds, damaged_error
from caption_kernels_reference.meteor.hashes import edge_slots_of, slots_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

_BLANKS = re.compile(rb"[ \t\f\r]+")
"""The blanks of Java's StringTokenizer."""


class ParaphraseReader:
    """Reads the table from blocks that end anywhere."""

    def __init__(self) -> None:
        self._is_finished = False
        self._rest = b""
        self._kind = 0  # of the next line: 0 probability, 1 phrase, 2 paraphrase
        self._words: dict[bytes, int] = {}
        self._children: dict[int, int] = {}  # node by edge
        self._sources = array("i")
        self._targets = array("i")

    def feed(self, data: Buffer) -> None:
        """Read the next block."""
        if self._is_finished:
            raise ValueError("METEOR's lexicon: an argument is out of its range")
        *lines, self._rest = (self._rest + bytes(memoryview(data))).split(b"\n")
        for line in lines:
            if self._kind:
                (self._sources if self._kind == 1 else self._targets).append(
                    self._node(line)
                )
            self._kind = (self._kind + 1) % 3

    def finish(self, words: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        """End the table; return numbers of words, also of words that it lacks, and the
        first arrays of a lexicon (``Sections``).

        Raises :class:`ValueError` if the table has no entry or ends inside one.
        """
        if self._is_finished:
            raise ValueError("METEOR's lexicon: an argument is out of its range")
        if self._rest:
            self.feed(b"\n")

        if self._kind or not self._targets:
            raise damaged_error()
        self._is_finished = True

        numbers = [
            self._words.setdefault(word.encode(), len(self._words)) for word in words
        ]
        all_words = list(self._words)

        edges = np.fromiter(
            (0, *self._children), dtype=np.uint64, count=1 + len(self._children)
        )
        sources = np.array(self._sources, dtype=np.int32)
        targets = np.array(self._targets, dtype=np.int32)
        return np.array(numbers, dtype=np.int64), [
            slots_of(all_words),
            np.cumsum([0, *map(len, all_words)], dtype=np.int64),
            np.frombuffer(b"".join(all_words), dtype=np.uint8),
            edge_slots_of(edges),
            edges,
            bounds(sources, len(edges)),
            targets[np.argsort(sources, kind="stable")],
        ]

    def _node(self, phrase: bytes) -> int:
        """Return the node of a phrase, added with its words if it is new."""
        node = 0
        for word in _BLANKS.split(phrase):
            if word:
                number = self._words.setdefault(word, len(self._words))
                node = self._children.setdefault(
                    node << 32 | number, len(self._children) + 1
                )
        return node
