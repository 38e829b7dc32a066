"""METEOR's beam search, compiled: from the matches of one pair to its best alignment.

The same search as :mod:`harness.plugins.pairwise.meteor_reference`, which is the version to read first. The 40 paths that
survive a word are kept in order while they are made (a newcomer goes behind its equals, as in a stable sort), used words are
bits, and a path's matches are a chain back through the beam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

BEAM = 40
_PASS, _FIXED, _SKIP = -1, -2, -3


class Matches(NamedTuple):
    """Matches of one pair in the order in which they were found; ``at`` and ``order`` list them by reference position."""

    ref_start: np.ndarray
    ref_length: np.ndarray
    hyp_start: np.ndarray
    hyp_length: np.ndarray
    module: np.ndarray


class Beam(NamedTuple):
    """Two generations of paths, the sorted newcomers, and the chains of matches."""

    used_hyp: np.ndarray
    """(2, 40, words / 64) uint64."""
    used_ref: np.ndarray
    state: np.ndarray
    """(2, 40, 6) int64: matches, chunks, distance, next reference word, end of the open chunk, last link of the chain."""
    slots: np.ndarray
    """(40, 5) int64: rank (fewer matches and more chunks are larger), distance, parent, match or _PASS/_FIXED/_SKIP, chunks."""
    order: np.ndarray
    """(40,) int64 slots, best first."""
    chain: np.ndarray
    """(40 * words + 1, 2) int64: previous link, match."""


_MATCHED, _CHUNKS, _DISTANCE, _NEXT, _END, _LINK = range(6)
_RANK, _FAR, _PARENT, _TAKEN, _N_CHUNKS = range(5)
_MANY = 1 << 30


@njit(cache=True, nogil=True)
def new_beam(longest):
    """Room for pairs of up to ``longest`` words a side."""
    bits = (longest >> 6) + 1
    return Beam(
        np.zeros((2, BEAM, bits), dtype=np.uint64),
        np.zeros((2, BEAM, bits), dtype=np.uint64),
        np.zeros((2, BEAM, 6), dtype=np.int64),
        np.zeros((BEAM, 5), dtype=np.int64),
        np.zeros(BEAM, dtype=np.int64),
        np.zeros((BEAM * (longest + 1) + 1, 2), dtype=np.int64),
    )


@njit(cache=True, nogil=True, inline="always")
def _is_set(bits, place):
    return (bits[place >> 6] >> np.uint64(place & 63)) & np.uint64(1)


@njit(cache=True, nogil=True, inline="always")
def _set(bits, start, length):
    for place in range(start, start + length):
        bits[place >> 6] |= np.uint64(1) << np.uint64(place & 63)


@njit(cache=True, nogil=True, inline="always")
def _is_free(bits, start, length):
    for place in range(start, start + length):
        if _is_set(bits, place):
            return False
    return True


@njit(cache=True, nogil=True)
def _weight(matches, m):
    """What a match adds to the count: all its words, or half of each side, cut to a whole number."""
    if matches.module[m] == 0:
        return matches.hyp_length[m] + matches.ref_length[m]
    return (matches.hyp_length[m] >> 1) + (matches.ref_length[m] >> 1)


@njit(cache=True, nogil=True)
def _offer(beam, n, matched, chunks, distance, parent, taken):
    """Put a path among the best 40, behind its equals; returns how many there are now."""
    rank = ((_MANY - matched) << 31) | chunks
    slots, order = beam.slots, beam.order
    if n == BEAM:
        last = order[n - 1]
        if rank > slots[last, _RANK] or (rank == slots[last, _RANK] and distance >= slots[last, _FAR]):
            return n
        slot, k = last, n - 1
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
    slots[slot, _RANK], slots[slot, _FAR], slots[slot, _PARENT] = rank, distance, parent
    slots[slot, _TAKEN], slots[slot, _N_CHUNKS] = taken, chunks
    return n


@njit(cache=True, nogil=True)
def _branch(beam, now, p, n, j, matches, at, order, fixed):
    """Offer what becomes of path ``p`` at reference word ``j``; returns the number of newcomers."""
    path = beam.state[now, p]
    used_hyp, used_ref = beam.used_hyp[now, p], beam.used_ref[now, p]
    matched, chunks, distance, end = path[_MATCHED], path[_CHUNKS], path[_DISTANCE], path[_END]
    if _is_set(used_ref, j):
        if j < path[_NEXT]:
            return _offer(beam, n, matched, chunks, distance, p, _PASS)
        m = fixed[j]
        if m < 0:
            return n
        chunks += end != -1 and end != matches.hyp_start[m]
        distance += abs(j - matches.hyp_start[m])
        return _offer(beam, n, matched + _weight(matches, m), chunks, distance, p, _FIXED)
    for k in range(at[j], at[j + 1]):
        m = order[k]
        i = matches.hyp_start[m]
        if not (_is_free(used_hyp, i, matches.hyp_length[m]) and _is_free(used_ref, j, matches.ref_length[m])):
            continue
        opened = end != -1 and end != i
        n = _offer(beam, n, matched + _weight(matches, m), chunks + opened, distance, p, m)
        distance += abs(j - i)  # to the parent: seen by its later branches and by the skip
    return _offer(beam, n, matched, chunks + (end != -1), distance, p, _SKIP)


@njit(cache=True, nogil=True)
def _settle(beam, now, n, j, matches, fixed, links):
    """Write the newcomers as the next generation; returns the number of chain links."""
    following = 1 - now
    for k in range(n):
        slot = beam.slots[beam.order[k]]
        parent, taken = slot[_PARENT], slot[_TAKEN]
        old, new = beam.state[now, parent], beam.state[following, k]
        new[_CHUNKS], new[_DISTANCE] = slot[_N_CHUNKS], slot[_FAR]
        new[_MATCHED] = _MANY - (slot[_RANK] >> 31)
        new[_NEXT], new[_END], new[_LINK] = old[_NEXT], old[_END], old[_LINK]
        beam.used_hyp[following, k] = beam.used_hyp[now, parent]
        beam.used_ref[following, k] = beam.used_ref[now, parent]
        if taken == _SKIP:
            new[_NEXT] += 1
            new[_END] = -1
        elif taken != _PASS:
            m = fixed[j] if taken == _FIXED else taken
            new[_NEXT] = j + matches.ref_length[m]
            new[_END] = matches.hyp_start[m] + matches.hyp_length[m]
            if taken != _FIXED:
                _set(beam.used_hyp[following, k], matches.hyp_start[m], matches.hyp_length[m])
                _set(beam.used_ref[following, k], j, matches.ref_length[m])
                beam.chain[links, 0], beam.chain[links, 1] = old[_LINK], m
                new[_LINK] = links
                links += 1
    return links


@njit(cache=True, nogil=True)
def search(beam, matches, at, order, fixed, ref_length, chosen):
    """Fill ``chosen`` with the match that starts at each reference word in the best path, -1 for none.

    ``order[at[j]:at[j + 1]]`` lists the matches at word j; ``fixed[j]`` is the match there that has no rival, or -1.
    """
    beam.used_hyp[0, 0] = 0
    beam.used_ref[0, 0] = 0
    for j in range(ref_length):
        m = fixed[j]
        chosen[j] = m
        if m >= 0:
            _set(beam.used_hyp[0, 0], matches.hyp_start[m], matches.hyp_length[m])
            _set(beam.used_ref[0, 0], j, matches.ref_length[m])
    beam.state[0, 0] = 0
    beam.state[0, 0, _END] = -1
    now, paths, links = 0, 1, 1
    for j in range(ref_length):
        n = 0
        for p in range(paths):
            n = _branch(beam, now, p, n, j, matches, at, order, fixed)
        if n == 0:  # no path goes on: the best one stays as it is
            n = _offer(beam, 0, beam.state[now, 0, _MATCHED], beam.state[now, 0, _CHUNKS], 0, 0, _PASS)
        links = _settle(beam, now, n, j, matches, fixed, links)
        now, paths = 1 - now, n
    link = beam.state[now, _winner(beam.state[now], paths), _LINK]
    while link > 0:
        m = beam.chain[link, 1]
        chosen[matches.ref_start[m]] = m
        link = beam.chain[link, 0]


@njit(cache=True, nogil=True)
def _winner(state, paths):
    """The first best path once open chunks are closed."""
    best = 0
    best_matched, best_chunks, best_distance = -1, 0, 0
    for p in range(paths):
        matched, distance = state[p, _MATCHED], state[p, _DISTANCE]
        chunks = state[p, _CHUNKS] + (state[p, _END] != -1)
        if matched < best_matched:
            continue
        better = matched > best_matched or chunks < best_chunks
        if better or (chunks == best_chunks and distance < best_distance):
            best, best_matched, best_chunks, best_distance = p, matched, chunks, distance
    return best
