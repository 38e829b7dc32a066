"""METEOR's beam search, compiled: from the matches of one pair to its best alignment.

The same search as :mod:`harness.plugins.pairwise.meteor_reference`, which is the version to read first. The 40 paths that
survive a word are kept in order while they are made (a newcomer goes behind its equals, as in a stable sort), used words are
bits, and a path's matches are a chain back through the beam.

Few wide arrays and no slices: a view made or an array passed costs as much here as the work on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

BEAM = 40

REF_START, REF_LENGTH, HYP_START, HYP_LENGTH, MODULE = range(5)
"""Columns of a pair's matches, (room, 5) int32."""

_MATCHED, _CHUNKS, _DISTANCE, _NEXT, _END, _LINK, _BITS = range(7)
_RANK, _FAR, _PARENT, _TAKEN, _WORDS = range(5)
_PASS, _FIXED, _SKIP = -1, -2, -3
_MANY = 1 << 30


class Beam(NamedTuple):
    """Two generations of paths, the newcomers of a step in their order, and the chains of matches."""

    state: np.ndarray
    """(80, 6 + 2 * bits) int64: matched words, chunks, distance, next reference word, end of the open chunk, last link of the
    chain, then used words of the hypothesis and of the reference as bits; one generation in the first 40 rows, one behind."""
    slots: np.ndarray
    """(40, 5) int64: rank (fewer matched words and more chunks are larger), distance, parent, match or _PASS/_FIXED/_SKIP, matched."""
    order: np.ndarray
    """(40,) int64 slots, best first."""
    chain: np.ndarray
    """(40 * words + 1, 2) int64: previous link, match."""


@njit(cache=True, nogil=True)
def new_beam(longest):
    """Room for pairs of up to ``longest`` words a side."""
    bits = (longest >> 6) + 1
    return Beam(
        np.zeros((2 * BEAM, _BITS + 2 * bits), dtype=np.int64),
        np.zeros((BEAM, 5), dtype=np.int64),
        np.zeros(BEAM, dtype=np.int64),
        np.zeros((BEAM * (longest + 1) + 1, 2), dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _is_free(state, path, first_bits, start, length):
    for place in range(start, start + length):  # noqa: SIM110 - a generator costs more than the loop
        if state[path, first_bits + (place >> 6)] >> (place & 63) & 1:
            return False
    return True


@njit(cache=True, nogil=True)
def _use(state, path, first_bits, start, length):
    for place in range(start, start + length):
        state[path, first_bits + (place >> 6)] |= np.int64(1) << (place & 63)


@njit(cache=True, nogil=True)
def _weight(matches, m):
    """What a match adds to the count: all its words, or half of each side, cut to a whole number."""
    if matches[m, MODULE] == 0:
        return matches[m, HYP_LENGTH] + matches[m, REF_LENGTH]
    return (matches[m, HYP_LENGTH] >> 1) + (matches[m, REF_LENGTH] >> 1)


@njit(cache=True, nogil=True)
def _offer(slots, order, n, matched, chunks, distance, parent, taken):
    """Put a path among the best 40, behind its equals; returns how many there are now."""
    rank = ((_MANY - matched) << 31) | chunks
    if n == BEAM:
        slot, k = order[n - 1], n - 1
        if rank > slots[slot, _RANK] or (rank == slots[slot, _RANK] and distance >= slots[slot, _FAR]):
            return n
    else:
        slot = k = n
        n += 1
    while k > 0:
        before = order[k - 1]
        if slots[before, _RANK] < rank or (slots[before, _RANK] == rank and slots[before, _FAR] <= distance):
            break
        order[k] = before
        k -= 1
    order[k] = slot
    slots[slot, _RANK] = rank
    slots[slot, _FAR] = distance
    slots[slot, _PARENT] = parent
    slots[slot, _TAKEN] = taken
    slots[slot, _WORDS] = matched
    return n


@njit(cache=True, nogil=True)
def _branch(beam, path, n, j, matches, at, listed, fixed):
    """Offer what becomes of a path at reference word ``j``; returns the number of newcomers."""
    state, slots, order = beam.state, beam.slots, beam.order
    hyp_bits = _BITS
    ref_bits = _BITS + ((state.shape[1] - _BITS) >> 1)
    matched, chunks = state[path, _MATCHED], state[path, _CHUNKS]
    distance, end = state[path, _DISTANCE], state[path, _END]
    if state[path, ref_bits + (j >> 6)] >> (j & 63) & 1:
        if j < state[path, _NEXT]:
            return _offer(slots, order, n, matched, chunks, distance, path, _PASS)
        m = fixed[j]
        if m < 0:
            return n
        i = matches[m, HYP_START]
        matched += _weight(matches, m)
        return _offer(slots, order, n, matched, chunks + (end != -1 and end != i), distance + abs(j - i), path, _FIXED)
    for k in range(at[j], at[j + 1]):
        m = listed[k]
        i = matches[m, HYP_START]
        if not _is_free(state, path, hyp_bits, i, matches[m, HYP_LENGTH]):
            continue
        if not _is_free(state, path, ref_bits, j, matches[m, REF_LENGTH]):
            continue
        opened = end != -1 and end != i
        n = _offer(slots, order, n, matched + _weight(matches, m), chunks + opened, distance, path, m)
        distance += abs(j - i)  # to the parent: seen by its later branches and by the skip
    return _offer(slots, order, n, matched, chunks + (end != -1), distance, path, _SKIP)


@njit(cache=True, nogil=True)
def _settle(beam, following, n, j, matches, fixed, links):
    """Write the newcomers as the generation from row ``following`` on; returns the number of chain links."""
    state, slots = beam.state, beam.slots
    width = state.shape[1]
    for k in range(n):
        slot = beam.order[k]
        parent, taken, new = slots[slot, _PARENT], slots[slot, _TAKEN], following + k
        for column in range(_NEXT, width):
            state[new, column] = state[parent, column]
        state[new, _MATCHED] = slots[slot, _WORDS]
        state[new, _CHUNKS] = slots[slot, _RANK] & 0x7FFFFFFF
        state[new, _DISTANCE] = slots[slot, _FAR]
        if taken == _SKIP:
            state[new, _NEXT] += 1
            state[new, _END] = -1
        elif taken != _PASS:
            m = fixed[j] if taken == _FIXED else taken
            state[new, _NEXT] = j + matches[m, REF_LENGTH]
            state[new, _END] = matches[m, HYP_START] + matches[m, HYP_LENGTH]
            if taken != _FIXED:
                _use(state, new, _BITS, matches[m, HYP_START], matches[m, HYP_LENGTH])
                _use(state, new, _BITS + ((width - _BITS) >> 1), j, matches[m, REF_LENGTH])
                beam.chain[links, 0] = state[new, _LINK]
                beam.chain[links, 1] = m
                state[new, _LINK] = links
                links += 1
    return links


@njit(cache=True, nogil=True)
def _start(state, matches, fixed, ref_length):
    """The first path: fixed matches are used, nothing is taken yet."""
    for column in range(state.shape[1]):
        state[0, column] = 0
    state[0, _END] = -1
    ref_bits = _BITS + ((state.shape[1] - _BITS) >> 1)
    for j in range(ref_length):
        m = fixed[j]
        if m >= 0:
            _use(state, 0, _BITS, matches[m, HYP_START], matches[m, HYP_LENGTH])
            _use(state, 0, ref_bits, j, matches[m, REF_LENGTH])


@njit(cache=True, nogil=True)
def search(beam, matches, at, listed, fixed, ref_length, chosen):
    """Fill ``chosen`` with the match that starts at each reference word in the best path, -1 for none.

    ``listed[at[j]:at[j + 1]]`` are the matches at word j; ``fixed[j]`` is the match there that has no rival, or -1.
    """
    state = beam.state
    _start(state, matches, fixed, ref_length)
    now, paths, links = 0, 1, 1
    for j in range(ref_length):
        n = 0
        for path in range(now, now + paths):
            n = _branch(beam, path, n, j, matches, at, listed, fixed)
        if n == 0:  # no path goes on: the best one stays as it is
            n = _offer(
                beam.slots, beam.order, 0, state[now, _MATCHED], state[now, _CHUNKS], state[now, _DISTANCE], now, _PASS
            )
        following = BEAM - now
        links = _settle(beam, following, n, j, matches, fixed, links)
        now, paths = following, n
    for j in range(ref_length):
        chosen[j] = fixed[j]
    link = state[_winner(state, now, paths), _LINK]
    while link > 0:
        m = beam.chain[link, 1]
        chosen[matches[m, REF_START]] = m
        link = beam.chain[link, 0]


@njit(cache=True, nogil=True)
def _winner(state, first, paths):
    """The first best path once open chunks are closed."""
    best = first
    best_chunks = state[first, _CHUNKS] + (state[first, _END] != -1)
    for path in range(first + 1, first + paths):
        chunks = state[path, _CHUNKS] + (state[path, _END] != -1)
        more = state[path, _MATCHED] - state[best, _MATCHED]
        if more < 0 or (more == 0 and chunks > best_chunks):
            continue
        if more > 0 or chunks < best_chunks or state[path, _DISTANCE] < state[best, _DISTANCE]:
            best, best_chunks = path, chunks
    return best
