"""The buffer of a lexicon: a header, then arrays that start at multiples of 8, as ``core/meteor_lexicon_format.hpp`` defines them.

Both engines read the files of either.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from caption_kernels.reference.meteor.paraphrases import bounds

IS_FUNCTION_WORD, IS_PREFIX, IS_NUMERIC_PREFIX, HAS_SYNSETS = 1, 2, 4, 8
"""Bits of ``Sections.flags``."""

_HEADER = struct.Struct("=8sIIqQq")  # magic, version, number of sections, size, checksum, number of synonym sets
_PLACE = struct.Struct("=qq")  # offset and size of a section
_CHECKSUM = slice(24, 32)
_MAGIC, _VERSION = b"CKMETEOR", 1
_GOLDEN = 0x9E3779B97F4A7C15


class Sections(NamedTuple):
    """Arrays of a lexicon with W words, in the order of the buffer."""

    slots: np.ndarray
    """(power of two,) int32 open-addressing table of word numbers, -1 free."""
    word_starts: np.ndarray
    """(W + 1,) int64 bounds of each word in ``word_bytes``."""
    word_bytes: np.ndarray
    """uint8, UTF-8 of the words."""
    flags: np.ndarray
    """(W,) uint8."""
    synset_starts: np.ndarray
    """(W + 1,) int32 bounds of each word in ``synsets``."""
    synsets: np.ndarray
    """int32, ascending within each word."""
    base_starts: np.ndarray
    """(W + 1,) int32 bounds of each irregular form in ``bases``."""
    bases: np.ndarray
    """int32 word numbers."""
    roots: np.ndarray
    """(words of the paraphrase table,) int32: node of each first word, -1 for none."""
    edge_slots: np.ndarray
    """(power of two,) uint64 open-addressing table: 0, or the upper half of an edge's hash above its node; in the order of hashes."""
    edges: np.ndarray
    """(nodes,) uint64: the edge into each node, its parent times 2^32 plus its word."""
    first_target: np.ndarray
    """(nodes + 1,) int32 bounds of each node in ``targets``."""
    targets: np.ndarray
    """int32 nodes."""


_DTYPES = tuple(map(np.dtype, ("i4", "i8", "u1", "u1", "i4", "i4", "i4", "i4", "i4", "u8", "u8", "i4", "i4")))


class Opened(NamedTuple):
    """The contents of a buffer."""

    sections: Sections
    n_synsets: int


def damaged() -> ValueError:
    """Return the error for a buffer or list that cannot be read."""
    return ValueError("METEOR's lexicon: the data are damaged or of another version")


def opened(buffer: memoryview) -> Opened:
    """Return the arrays of a buffer, without a copy; raise :class:`ValueError` if its header or lengths do not fit."""
    if len(buffer) < _HEADER.size + len(Sections._fields) * _PLACE.size:
        raise damaged()
    magic, version, n_sections, size, _, n_synsets = _HEADER.unpack_from(buffer)
    if (magic, version, n_sections, size) != (_MAGIC, _VERSION, len(Sections._fields), len(buffer)) or size % 8:
        raise damaged()
    sections = Sections(*(_section(buffer, k, dtype) for k, dtype in enumerate(_DTYPES)))
    n_words = len(sections.flags)
    lengths = (sections.word_starts, sections.synset_starts, sections.base_starts)
    if (
        any(len(slots).bit_count() != 1 for slots in (sections.slots, sections.edge_slots))
        or any(len(starts) != n_words + 1 for starts in lengths)
        or len(sections.roots) > n_words
        or len(sections.first_target) != len(sections.edges) + 1
        or not 0 <= n_synsets < 1 << 31
    ):
        raise damaged()
    return Opened(sections, n_synsets)


def _section(buffer: memoryview, k: int, dtype: np.dtype) -> np.ndarray:
    header = _HEADER.size + len(Sections._fields) * _PLACE.size
    offset, size = _PLACE.unpack_from(buffer, _HEADER.size + k * _PLACE.size)
    if offset < header or offset % 8 or size < 0 or size % dtype.itemsize or offset + size > len(buffer):
        raise damaged()
    return np.frombuffer(buffer, dtype=dtype, count=size // dtype.itemsize, offset=offset)


def verify(buffer: memoryview) -> None:
    """Raise :class:`ValueError` if a byte of the buffer has changed."""
    if _checksum(buffer) != int.from_bytes(buffer[_CHECKSUM], "little"):
        raise damaged()


def written(sections: Sections, n_synsets: int) -> bytes:
    """Return the buffer with these contents."""
    parts, places = [], b""
    size = _HEADER.size + len(sections) * _PLACE.size
    for array, dtype in zip(sections, _DTYPES, strict=True):
        part = np.ascontiguousarray(array, dtype=dtype.base).tobytes()
        places += _PLACE.pack(size, len(part))
        parts.append(part + bytes(-len(part) % 8))
        size += len(parts[-1])
    header = _HEADER.pack(_MAGIC, _VERSION, len(sections), size, 0, n_synsets)
    buffer = bytearray(b"".join([header, places, *parts]))
    buffer[_CHECKSUM] = _checksum(memoryview(buffer)).to_bytes(8, "little")
    return bytes(buffer)


def _checksum(buffer: memoryview) -> int:
    head = _HEADER.size + len(Sections._fields) * _PLACE.size
    start = np.frombuffer(bytearray(buffer[:head]), dtype=np.uint64)
    start[_CHECKSUM.start // 8] = 0
    rest = np.frombuffer(buffer, dtype=np.uint64, offset=head)
    return (_sum_of_hashes(start) + int(mixed(np.array([_sum_of_hashes(rest)], dtype=np.uint64))[0])) % 2**64


def _sum_of_hashes(words: np.ndarray) -> int:
    """Return the sum of hashes of each word and its place."""
    total = 0
    for first in range(0, len(words), 1 << 16):
        part = words[first : first + (1 << 16)]
        places = np.arange(first + 1, first + 1 + len(part), dtype=np.uint64)
        total += int(mixed(part ^ (places * np.uint64(_GOLDEN))).sum(dtype=np.uint64))
    return total % 2**64


def hash_bytes(text: bytes) -> int:
    """Return the hash of a word, as ``core/span.hpp`` defines it: 8 bytes at a time, finished by splitmix64 (Steele et al. 2014)."""
    h = _GOLDEN ^ len(text)
    whole = len(text) // 8 * 8
    for k in range(0, whole, 8):
        h = (h ^ int.from_bytes(text[k : k + 8], "little")) * 0xFF51AFD7ED558CCD % 2**64
        h ^= h >> 32
    return int(mixed(np.array([h ^ int.from_bytes(text[whole:], "little")], dtype=np.uint64))[0])


def mixed(h: np.ndarray) -> np.ndarray:
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
        place = hash_bytes(word) % size
        while slots[place] >= 0:
            place = (place + 1) % size
        slots[place] = number
    return slots


def edge_slots_of(edges: np.ndarray) -> np.ndarray:
    """Return the open-addressing table of the edges (nodes,) of a trie, those from node 0 excepted: uint64."""
    nodes = np.flatnonzero(edges >> np.uint64(32))
    hashes = mixed(edges[nodes])
    order = np.argsort(hashes)
    nodes, hashes = nodes[order], hashes[order]
    size = 1 << 16
    while 5 * len(edges) > 4 * size:
        size *= 2
    # In the order of hashes, each edge takes its own slot or, if that is not behind the slot of the edge before, the next one.
    rank = np.arange(len(nodes))
    places = np.maximum.accumulate(first_slot(hashes, size) - rank) + rank
    slots = np.zeros(size, dtype=np.uint64)
    contents = hashes & np.uint64(0xFFFFFFFF00000000) | nodes.astype(np.uint64)
    fits = places < size
    slots[places[fits]] = contents[fits]
    free = iter(np.flatnonzero(slots == 0).tolist())  # those beyond the end go to the start
    for content in contents[~fits]:
        slots[next(free)] = content
    return slots


def first_slot(hashes: np.ndarray, size: int) -> np.ndarray:
    """Return the slots at which edges with these hashes are looked for first."""
    return ((hashes >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)


class Runs(NamedTuple):
    """Numbers of each of some rows, one after another."""

    starts: np.ndarray
    values: np.ndarray


def runs(rows: Mapping[int, Sequence[int]], n_rows: int) -> Runs:
    """Return the runs of the rows 0 to ``n_rows`` - 1; a row that is not named is empty."""
    owners = np.repeat(np.array(sorted(rows), dtype=np.int64), [len(rows[row]) for row in sorted(rows)])
    values = chain.from_iterable(rows[row] for row in sorted(rows))
    return Runs(bounds(owners, n_rows), np.fromiter(values, dtype=np.int32, count=len(owners)))
