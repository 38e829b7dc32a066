"""METEOR's paraphrase table as a trie in flat arrays, built once from the gzip file and memory-mapped afterwards.

Nodes are numbered breadth first and the children of a node are adjacent, so node ``e + 1`` is the end of edge ``e`` and two arrays hold
the trie. A phrase is identified by its node; its paraphrases are a run of nodes in the order of the file.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.plugins.meteor.lexicon.paraphrase_kernels import Building

_CHUNK = 1 << 22
"""Bytes of text that are parsed at a time."""


class ParaphraseTable(NamedTuple):
    """Phrases as trie nodes over word ids, and the paraphrases of each phrase."""

    first_edge: np.ndarray
    """(nodes + 1,) int32: edges out of node v are ``first_edge[v]:first_edge[v + 1]``."""
    edge_words: np.ndarray
    """(nodes - 1,) int32 word ids, ascending per node; edge e ends in node e + 1."""
    first_target: np.ndarray
    """(nodes + 1,) int32: paraphrases of phrase v are ``targets[first_target[v]:first_target[v + 1]]``."""
    targets: np.ndarray
    """(entries,) int32 nodes, in the order of the file for each phrase."""

    def child(self, node: int, word: int) -> int:
        """Return the node reached from ``node`` by the word id ``word``, or -1."""
        start, stop = int(self.first_edge[node]), int(self.first_edge[node + 1])
        edge = start + int(np.searchsorted(self.edge_words[start:stop], word))
        return edge + 1 if edge < stop and self.edge_words[edge] == word else -1

    def roots(self, words: np.ndarray) -> np.ndarray:
        """Return the node of each word as the first word of a phrase, -1 for none: int32, shape (W,).

        ``words`` (W,) holds word ids, -1 for a word that is not in the table.
        """
        stop = int(self.first_edge[1])
        edges = np.searchsorted(self.edge_words[:stop], words)
        present = edges < stop
        present[present] = self.edge_words[edges[present]] == words[present]
        return np.where(present, edges + 1, -1).astype(np.int32)

    def paraphrases(self, node: int) -> np.ndarray:
        """Return the nodes (K,) of the paraphrases of a phrase, int32, in the order of the file."""
        return self.targets[self.first_target[node] : self.first_target[node + 1]]


class ParsedParaphrases(NamedTuple):
    """A paraphrase table and the words of its ids."""

    table: ParaphraseTable
    words: bytes
    """UTF-8, one word per line, in the order of their ids."""


def parse_paraphrases(path: Path) -> ParsedParaphrases:
    """Return the table of a ``paraphrase-en.gz``; raises :class:`HarnessError` if the file is truncated or not such a table."""
    from harness.plugins.meteor.lexicon import paraphrase_kernels as kernels  # numba; needed only to build the cache

    building = _empty()
    building.counts[kernels.N_NODES] = 1
    for block in _blocks(path):
        building = _with_room(building, len(block))
        kernels.read_lines(building, np.frombuffer(block, dtype=np.uint8))
    counts = building.counts
    if counts[kernels.LINE_KIND] != 0 or counts[kernels.N_PAIRS] == 0:
        raise HarnessError(
            f"{path} is not a METEOR paraphrase table: expected three lines per entry and at least one entry"
        )
    n_nodes, n_pairs, n_words = (int(counts[i]) for i in (kernels.N_NODES, kernels.N_PAIRS, kernels.N_WORDS))
    text, ends = building.text, building.ends[:n_words].tolist()
    words = b"\n".join(text[start:stop].tobytes() for start, stop in zip([0, *ends], ends))
    parents, labels = building.parents[:n_nodes], building.labels[:n_nodes]
    sources, targets = building.sources[:n_pairs], building.targets[:n_pairs]
    del building, text  # frees the hash tables, which are as large as the rest
    return ParsedParaphrases(_breadth_first(parents, labels, sources, targets, n_words), words)


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the decompressed file in blocks of whole lines."""
    rest = b""
    try:
        with gzip.open(path, "rb") as stream:
            while data := stream.read(_CHUNK):
                cut = data.rfind(b"\n") + 1
                if cut:
                    yield rest + data[:cut]
                    rest = data[cut:]
                else:
                    rest += data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise HarnessError(
            f"{path} is damaged ({error}): pip install --force-reinstall --no-deps pycocoevalcap"
        ) from error
    if rest:
        yield rest + b"\n"


def _empty() -> Building:
    """Return a table under construction without entries."""
    from harness.plugins.meteor.lexicon.paraphrase_kernels import Building

    return Building(
        counts=np.zeros(6, dtype=np.int64),
        text=np.empty(0, dtype=np.uint8),
        ends=np.empty(0, dtype=np.int64),
        word_slots=np.full(1 << 16, -1, dtype=np.int32),
        parents=np.zeros(1, dtype=np.int32),
        labels=np.zeros(1, dtype=np.int32),
        node_slots=np.full(1 << 20, -1, dtype=np.int32),
        sources=np.empty(0, dtype=np.int32),
        targets=np.empty(0, dtype=np.int32),
    )


def _with_room(b: Building, n_bytes: int) -> Building:
    """Return ``b`` with room for ``n_bytes`` more bytes of text: at most one word per two bytes and one entry per three bytes."""
    from harness.plugins.meteor.lexicon import paraphrase_kernels as kernels

    words, used, nodes, pairs = (int(b.counts[i]) for i in range(4))
    most = n_bytes // 2 + 1
    b = b._replace(
        text=_grown(b.text, used + n_bytes),
        ends=_grown(b.ends, words + most),
        parents=_grown(b.parents, nodes + most),
        labels=_grown(b.labels, nodes + most),
        sources=_grown(b.sources, pairs + n_bytes // 3 + 1),
        targets=_grown(b.targets, pairs + n_bytes // 3 + 1),
    )
    if 2 * (words + most) > len(b.word_slots) or 2 * (nodes + most) > len(b.node_slots):
        b = b._replace(
            word_slots=np.full(_power_of_two(2 * (words + most)), -1, dtype=np.int32),
            node_slots=np.full(_power_of_two(2 * (nodes + most)), -1, dtype=np.int32),
        )
        kernels.refill(b)
    return b


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return ``array`` or a copy of it with at least ``size`` entries; new entries are not initialised."""
    if len(array) >= size:
        return array
    new = np.empty(max(size, len(array) * 3 // 2), dtype=array.dtype)
    new[: len(array)] = array
    return new


def _power_of_two(size: int) -> int:
    """Return the smallest power of two that is not below ``size`` (at least 2)."""
    return 1 << max(size - 1, 1).bit_length()


def _breadth_first(
    parents: np.ndarray, labels: np.ndarray, sources: np.ndarray, targets: np.ndarray, n_words: int
) -> ParaphraseTable:
    """Return the table with nodes numbered level by level and the children of a node adjacent, ordered by word id."""
    from harness.plugins.meteor.lexicon import paraphrase_kernels as kernels

    number, children = kernels.number_nodes(parents, labels, n_words)
    edge_words = np.empty(len(parents) - 1, dtype=np.int32)
    edge_words[number[1:] - 1] = labels[1:]
    first_target, by_number = kernels.group_pairs(sources, targets, number)
    return ParaphraseTable(_offsets(children), edge_words, first_target, by_number)


def _offsets(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
