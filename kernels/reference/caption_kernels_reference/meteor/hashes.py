"""The open-addressing tables of a lexicon, as ``core/span.hpp`` and
``core/meteor_lexicon.hpp`` define them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_GOLDEN = 0x9E3779B97F4A7C15


def hash_bytes(text: bytes) -> int:
    """Return the hash of a word, as ``core/span.hpp`` defines it: 8 bytes at a time,
    finished by splitmix64 (Steele et al. 2014).
    """
    h = _GOLDEN ^ len(text)
    block_end = len(text) // 8 * 8
    for k in range(0, block_end, 8):
        h = (h ^ int.from_bytes(text[k : k + 8], "little")) * 0xFF51AFD7ED558CCD % 2**64
        h ^= h >> 32
    return int(
        mix_hashes(
            np.array([h ^ int.from_bytes(text[block_end:], "little")], dtype=np.uint64)
        )[0]
    )


def mix_hashes(h: np.ndarray) -> np.ndarray:
    """Return the hashes of numbers, uint64 of the same shape."""
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def slots_of(words: Sequence[bytes]) -> np.ndarray:
    """Return the open-addressing table of words, int32 numbers, -1 free."""
    size = 1
    while size < 2 * len(words):
        size *= 2
    slots = np.full(size, -1, dtype=np.int32)
    for number, word in enumerate(words):
        slot = hash_bytes(word) % size
        while slots[slot] >= 0:
            slot = (slot + 1) % size
        slots[slot] = number
    return slots


def edge_slots_of(edges: np.ndarray) -> np.ndarray:
    """Return the open-addressing table of the edges (nodes,) of a trie: uint64."""
    nodes = np.arange(1, len(edges))
    hashes = mix_hashes(edges[nodes])
    order = np.argsort(hashes)
    nodes = nodes[order]
    hashes = hashes[order]

    size = 1 << 16
    while 5 * len(edges) > 4 * size:
        size *= 2
    # In the order of hashes, each edge takes its own slot or, if that is not behind the
    # slot of the edge before, the next one.
    rank = np.arange(len(nodes))
    positions = np.maximum.accumulate(first_slot(hashes, size) - rank) + rank

    slots = np.zeros(size, dtype=np.uint64)
    contents = hashes & np.uint64(0xFFFFFFFF00000000) | nodes.astype(np.uint64)
    fits = positions < size
    slots[positions[fits]] = contents[fits]
    # those beyond the end go to the start
    free = iter(np.flatnonzero(slots == 0).tolist())
    for content in contents[~fits]:
        slots[next(free)] = content
    return slots


def first_slot(hashes: np.ndarray, size: int) -> np.ndarray:
    """Return the slots at which edges with these hashes are looked for first."""
    return ((hashes >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(
        np.int64
    )
