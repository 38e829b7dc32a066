"""The buffer of METEOR's lexicon: a header, then arrays that start at multiples of 8,
as ``core/meteor_lexicon.hpp`` defines them.

Both engines read the buffers of either.
"""

from __future__ import annotations

import struct
import zlib
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from caption_kernels.lexicon.word_lists import WordLists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import BufferedIOBase

    from typing_extensions import Buffer

VERSION = 3
"""Increase it when the layout or the meaning of an array changes;
``LEXICON_VERSION`` in C++.
"""
IS_FUNCTION_WORD = 1
IS_PREFIX = 2
IS_NUMERIC_PREFIX = 4
HAS_SYNSETS = 8
"""Bits of ``Sections.flags``."""

# magic, version, number of sections, size, checksum, number of synonym sets
_HEADER = struct.Struct("=8sIIqQq")
_PLACE = struct.Struct("=qq")  # offset and size of a section
_CHECKSUM = slice(24, 32)
_MAGIC = b"CKMETEOR"
_WORDS_OF_BLOCK = 1 << 13
"""64-bit words that are summed at a time: they and their sums stay in the processor's
cache.
"""
_DTYPES = tuple(
    map(
        np.dtype,
        ("i4", "i8", "u1", "u8", "u8", "i4", "i4", "u1", "i4", "i4", "i4", "i4"),
    )
)
_SIZE_OF_HEADER = _HEADER.size + len(_DTYPES) * _PLACE.size


class Reader(Protocol):
    """``ParaphraseReader`` of an engine: reads the paraphrase table from blocks that
    end anywhere.
    """

    def feed(self, data: Buffer, /) -> None:
        """Read the next block."""

    def finish(
        self, words: Sequence[str], /
    ) -> tuple[np.ndarray, Sequence[np.ndarray]]:
        """End the table; return numbers of words, also of words that it lacks, and the
        first seven arrays of :class:`Sections`.
        """
        ...


class Sections(NamedTuple):
    """Arrays of a lexicon with W words, in the order of the buffer; the first seven are
    those of the paraphrase table.
    """

    slots: np.ndarray
    """(power of two,) int32 open-addressing table of word numbers, -1 free."""
    word_starts: np.ndarray
    """(W + 1,) int64 bounds of each word in ``word_bytes``."""
    word_bytes: np.ndarray
    """uint8, UTF-8 of the words."""
    edge_slots: np.ndarray
    """(power of two,) uint64 open-addressing table: 0, or the upper half of an edge's
    hash above its node; in the order of hashes.
    """
    edges: np.ndarray
    """(nodes,) uint64: the edge into each node,
    its parent times 2^32 plus its word; node 0 is the root.
    """
    first_target: np.ndarray
    """(nodes + 1,) int32 bounds of each node in ``targets``."""
    targets: np.ndarray
    """int32 nodes, in the order of the table for each phrase."""
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


class Opened(NamedTuple):
    """The contents of a buffer."""

    sections: Sections
    n_synsets: int


def damaged_error() -> ValueError:
    """Return the error for a buffer or table that cannot be read."""
    return ValueError("METEOR's lexicon: the data are damaged or of another version")


def finish_lexicon(reader: Reader, lists: WordLists) -> memoryview:
    """Return the lexicon of a paraphrase table that was read and of the lists of the
    jar.
    """
    names = list(
        dict.fromkeys(
            chain(
                lists.function_words,
                lists.prefixes,
                *lists.exceptions,
                lists.synset_words,
            )
        )
    )
    words = b"\n".join(names).decode("utf-8").split("\n")

    numbers, table = reader.finish(words)
    number_of = dict(zip(names, numbers.tolist(), strict=True))
    n_words = table[1].nbytes // 8 - 1

    flags = np.zeros(n_words, dtype=np.uint8)
    numeric = [word for word, only_numeric in lists.prefixes.items() if only_numeric]
    kinds = (lists.function_words, lists.prefixes, numeric, lists.synset_words)
    for bit, kind in zip(
        (IS_FUNCTION_WORD, IS_PREFIX, IS_NUMERIC_PREFIX, HAS_SYNSETS),
        kinds,
        strict=True,
    ):
        flags[[number_of[word] for word in kind]] |= bit

    synset_words = np.array(
        [number_of[word] for word in lists.synset_words], dtype=np.int64
    )
    forms, bases = (
        np.array([number_of[pair[k]] for pair in lists.exceptions], dtype=np.int64)
        for k in (0, 1)
    )

    runs = (
        *_runs(synset_words[lists.members], lists.synsets, n_words),
        *_runs(forms, bases.astype(np.int32), n_words),
    )
    return _write_buffer(Sections._make((*table, flags, *runs)), lists.n_synsets)


def _runs(
    owners: np.ndarray, values: np.ndarray, n_owners: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds (n_owners + 1,) int32 of the values of each owner, and the
    values by owner, otherwise in their order.
    """
    return bounds(owners, n_owners), values[np.argsort(owners, kind="stable")]


def bounds(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Return the bounds (n_groups + 1,) int32 of each group among items that are sorted
    by their group; ``groups`` (items,).
    """
    return np.concatenate(
        [[0], np.cumsum(np.bincount(groups, minlength=n_groups))]
    ).astype(np.int32)


def _write_buffer(sections: Sections, n_synsets: int) -> memoryview:
    """Return the buffer with these contents."""
    sizes = [section.nbytes for section in sections]
    ends = np.cumsum([_SIZE_OF_HEADER, *(size + -size % 8 for size in sizes)])
    buffer = np.zeros(ends[-1], dtype=np.uint8)
    section_table = b"".join(
        _PLACE.pack(offset, size) for offset, size in zip(ends.tolist(), sizes)
    )
    header = (
        _HEADER.pack(_MAGIC, VERSION, len(sections), len(buffer), 0, n_synsets)
        + section_table
    )
    buffer[: len(header)] = np.frombuffer(header, dtype=np.uint8)
    for offset, section in zip(ends.tolist(), sections):
        buffer[offset : offset + section.nbytes] = section.view(np.uint8)
    view = buffer.data
    view[_CHECKSUM] = _sum_bytes(_reader_of(view)).found
    return view


class _Checksum(NamedTuple):
    held: bytes
    """That of the header."""
    found: bytes
    """That of all other bytes."""


def _sum_bytes(fill: Callable[[memoryview], int]) -> _Checksum:
    """Return the checksums of the bytes that ``fill(block)`` gives, block by block; its
    result is their number, 0 at the end.

    Fletcher's sums (1982) of 64-bit words, each place in a block for itself: the sum of
    the blocks, which any change of a single block alters, and the sum of its values so
    far, which depends on their order. The CRC-32 of both are kept. This takes half the
    time of the CRC-32 of all bytes, and does not depend on how zlib was built.
    """
    block, sums, sums_so_far = (
        np.zeros(_WORDS_OF_BLOCK, dtype=np.uint64) for _ in range(3)
    )
    view = block.view(np.uint8).data
    held = None
    while size := fill(view):
        view[size:] = bytes(len(view) - size)
        if held is None:
            held = bytes(view[_CHECKSUM])
            view[_CHECKSUM] = bytes(len(held))
        sums += block
        sums_so_far += sums
    return _Checksum(
        held or b"",
        b"".join(
            zlib.crc32(values.tobytes()).to_bytes(4, "little")
            for values in (sums, sums_so_far)
        ),
    )


def _reader_of(buffer: memoryview) -> Callable[[memoryview], int]:
    """Return a function that copies the next bytes of a buffer to its argument, as
    ``readinto`` of a file does.
    """
    starts = count(0, 8 * _WORDS_OF_BLOCK)

    def fill(block: memoryview) -> int:
        start = next(starts)
        part = buffer[start : start + len(block)]
        block[: len(part)] = part
        return len(part)

    return fill


def verify(stream: BufferedIOBase) -> None:
    """Raise :class:`ValueError` if a byte of an open file of a lexicon has changed.

    The file is read in blocks: sums over its mapping would bring all of it, 100 MB,
    into the memory of the process.
    """
    checksum = _sum_bytes(stream.readinto)
    if checksum.held != checksum.found:
        raise damaged_error()


def open_buffer(buffer: memoryview) -> Opened:
    """Return the arrays of a buffer, without a copy; raise :class:`ValueError` if its
    header or lengths do not fit.
    """
    if len(buffer) < _SIZE_OF_HEADER:
        raise damaged_error()
    magic, version, n_sections, size, _, n_synsets = _HEADER.unpack_from(buffer)
    if (magic, version, n_sections, size) != (
        _MAGIC,
        VERSION,
        len(_DTYPES),
        len(buffer),
    ) or size % 8:
        raise damaged_error()
    sections = Sections(
        *(_section(buffer, k, dtype) for k, dtype in enumerate(_DTYPES))
    )
    starts = (sections.word_starts, sections.synset_starts, sections.base_starts)
    if (
        any(
            len(slots).bit_count() != 1
            for slots in (sections.slots, sections.edge_slots)
        )
        or any(len(bounds) != len(sections.flags) + 1 for bounds in starts)
        or len(sections.first_target) != len(sections.edges) + 1
        or not 0 <= n_synsets < 1 << 31
    ):
        raise damaged_error()
    return Opened(sections, n_synsets)


def _section(buffer: memoryview, k: int, dtype: np.dtype) -> np.ndarray:
    offset, size = _PLACE.unpack_from(buffer, _HEADER.size + k * _PLACE.size)
    if (
        offset < _SIZE_OF_HEADER
        or offset % 8
        or size < 0
        or size % dtype.itemsize
        or offset + size > len(buffer)
    ):
        raise damaged_error()
    return np.frombuffer(
        buffer, dtype=dtype, count=size // dtype.itemsize, offset=offset
    )
