"""Compiled beam search of METEOR: the best alignment from the matches of one pair.

The search equals that of :mod:`harness.plugins.meteor.reference`, which is easier to read. A path is a row of numbers. It stays in its row
while it skips words or follows fixed matches; a branch among the best 40 paths gets a new row. At each step the paths propose continuations
in their own row and branches. Each of the two lists is kept sorted by insertion, then both are merged; equal proposals keep the order
in which they were proposed, which makes the sort stable. Used words are bits; the matches of a path are a linked list.

``_walk`` is one long function because each array that is passed on, unpacked or sliced inside the loop costs two atomic reference counts,
together about ten times the work itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER

BEAM = 40

REF_START, REF_LENGTH, HYP_START, HYP_LENGTH, MODULE = range(5)
"""Columns of a pair's matches, array (room, 5) int32."""

_RANK, _DISTANCE, _NEXT, _END, _LINK, _BITS = range(6)
_ROW, _MOVE, _TURN = 2, 3, 4  # columns of ``slots`` after rank and distance
_PASS, _FIXED, _SKIP = -1, -2, -3
"""Moves other than a match: pass over a word that is already covered, follow the fixed match, skip the word."""


class Beam(NamedTuple):
    """Paths of a search and the proposals of its current step."""

    state: np.ndarray
    """(80, 5 + 2 * bits) int64, one path per row: rank, distance, next reference word, end of the open chunk (-1 for none), last link of
    the chain, then the used words of the hypothesis and of the reference as bits. The rank is the number of chunks minus 2**32 per
    matched word; smaller is better."""
    live: np.ndarray
    """(40,) int64 rows of the paths, best first."""
    free: np.ndarray
    """(80,) int64 stack of unused rows."""
    last_used: np.ndarray
    """(80,) int64: last step after which a row held a path."""
    slots: np.ndarray
    """(80, 5) int64 proposals: rank, distance, row, move (a match, _PASS, _FIXED or _SKIP) and turn of the path. Rows 0 to 39 are
    continuations, rows 40 to 79 are branches."""
    best_slots: np.ndarray
    """(3, 40) int64 slots, best first: of the continuations, of the branches, of both."""
    chain: np.ndarray
    """(40 * words + 1, 2) int64: previous link, match."""


@njit(**INNER)
def new_beam(longest):
    """Return a :class:`Beam` for texts of up to ``longest`` words."""
    bits = (longest >> 6) + 1
    return Beam(
        np.zeros((2 * BEAM, _BITS + 2 * bits), dtype=np.int64),
        np.zeros(BEAM, dtype=np.int64),
        np.zeros(2 * BEAM, dtype=np.int64),
        np.zeros(2 * BEAM, dtype=np.int64),
        np.zeros((2 * BEAM, 5), dtype=np.int64),
        np.zeros((3, BEAM), dtype=np.int64),
        np.zeros((BEAM * (longest + 1) + 1, 2), dtype=np.int64),
    )


@njit(**INNER)
def search(beam, matches, at, order, fixed, ref_length, selection):
    """Write the best path to ``selection``.

    Parameters
    ----------
    beam : Beam
        Work arrays for at least the length of both texts.
    matches : (room, 5) int32
    at : (ref_length + 1,) int64
        Bounds of the matches of each reference word in ``order``.
    order : (room,) int32
        Matches sorted by their first reference word.
    fixed : (ref_length,) int32
        Match at each reference word that no other match overlaps, -1 for none.
    ref_length : int
    selection : (ref_length,) int32
        Output: match that starts at each reference word, -1 for none.
    """
    _start(beam.state, matches, fixed, ref_length)
    best = _walk(
        beam.state, beam.live, beam.free, beam.last_used, beam.slots, beam.best_slots, beam.chain,
        matches, at, order, fixed, ref_length,
    )  # fmt: skip
    for j in range(ref_length):
        selection[j] = fixed[j]
    link = beam.state[best, _LINK]
    while link > 0:
        m = beam.chain[link, 1]
        selection[matches[m, REF_START]] = m
        link = beam.chain[link, 0]


@njit(**INNER)
def _start(state, matches, fixed, ref_length):
    """Write the first path to row 0: it has no match yet, and the words of fixed matches are used."""
    width = state.shape[1]
    ref_bits = _BITS + ((width - _BITS) >> 1)
    for column in range(width):
        state[0, column] = 0
    state[0, _END] = -1
    for j in range(ref_length):
        m = fixed[j]
        if m >= 0:
            for place in range(matches[m, HYP_START], matches[m, HYP_START] + matches[m, HYP_LENGTH]):
                state[0, _BITS + (place >> 6)] |= np.int64(1) << (place & 63)
            for place in range(j, j + matches[m, REF_LENGTH]):
                state[0, ref_bits + (place >> 6)] |= np.int64(1) << (place & 63)


@njit(**INNER)
def _walk(state, live, free, last_used, slots, best_slots, chain, matches, at, order, fixed, ref_length):
    """Extend the path of row 0 through all reference words and return the row of the best path (arrays: see :class:`Beam`)."""
    width = state.shape[1]
    ref_bits = _BITS + ((width - _BITS) >> 1)
    live[0] = 0
    paths = links = 1
    n_free = 2 * BEAM - 1
    for row in range(2 * BEAM):
        free[row] = row + 1
        last_used[row] = 0
    for j in range(ref_length):
        going = branching = 0
        # Propose: each path branches into the matches whose words are free, then continues in its row.
        for turn in range(paths):
            row = live[turn]
            rank, distance, end = state[row, _RANK], state[row, _DISTANCE], state[row, _END]
            first, stop, continuation = at[j], at[j + 1], _SKIP
            if state[row, ref_bits + (j >> 6)] >> (j & 63) & 1:
                first = stop
                continuation = _PASS if j < state[row, _NEXT] else _FIXED
                if continuation == _FIXED and fixed[j] < 0:
                    continue
            for k in range(first, stop + 1):
                kind = 1 if k < stop else 0
                move = np.int64(order[k]) if kind else continuation
                offered, away = rank, 0
                if move >= 0 or move == _FIXED:
                    m = move if kind else np.int64(fixed[j])
                    i, hyp, ref = np.int64(matches[m, HYP_START]), matches[m, HYP_LENGTH], matches[m, REF_LENGTH]
                    if kind:
                        used = 0
                        for place in range(i, i + hyp):
                            used |= state[row, _BITS + (place >> 6)] >> (place & 63) & 1
                        for place in range(j, j + ref):
                            used |= state[row, ref_bits + (place >> 6)] >> (place & 63) & 1
                        if used:
                            continue
                    # An exact match counts all its words, any other half of the words of each text, rounded down.
                    gain = hyp + ref if matches[m, MODULE] == 0 else (hyp >> 1) + (ref >> 1)
                    offered += (end != -1 and end != i) - (np.int64(gain) << 32)
                    away = abs(j - i)
                elif move == _SKIP:
                    offered += end != -1
                if move == _FIXED:
                    distance += away
                n = branching if kind else going
                place = n
                if n == BEAM:  # there can be more than 40 branches
                    place = BEAM - 1
                    slot = best_slots[1, place]
                    late = offered == slots[slot, _RANK] and distance >= slots[slot, _DISTANCE]
                    late |= offered > slots[slot, _RANK]
                else:
                    slot = kind * BEAM + n
                    late = False
                    if kind:
                        branching += 1
                    else:
                        going += 1
                if not late:
                    while place > 0:
                        other = best_slots[kind, place - 1]
                        worse = slots[other, _RANK] > offered
                        if not worse and (slots[other, _RANK] < offered or slots[other, _DISTANCE] <= distance):
                            break
                        best_slots[kind, place] = other
                        place -= 1
                    best_slots[kind, place] = slot
                    slots[slot, _RANK] = offered
                    slots[slot, _DISTANCE] = distance
                    slots[slot, _ROW] = row
                    slots[slot, _MOVE] = move
                    slots[slot, _TURN] = turn
                if kind:
                    distance += away  # of the parent, so its later branches and its continuation see it
        if going == 0:  # no path continues: the best one stays unchanged
            row = live[0]
            best_slots[0, 0] = slots[0, _TURN] = 0
            slots[0, _RANK], slots[0, _DISTANCE] = state[row, _RANK], state[row, _DISTANCE]
            slots[0, _ROW], slots[0, _MOVE] = row, _PASS
            going = 1
        # Merge the two lists; among equals the earlier path is first, and its branches precede its continuation.
        a = b = n = 0
        while n < BEAM and (a < going or b < branching):
            slot = best_slots[0, a] if a < going else best_slots[1, b]
            if a < going and b < branching:
                other = best_slots[1, b]
                later = slots[slot, _TURN] >= slots[other, _TURN]
                if slots[slot, _RANK] != slots[other, _RANK]:
                    later = slots[slot, _RANK] > slots[other, _RANK]
                elif slots[slot, _DISTANCE] != slots[other, _DISTANCE]:
                    later = slots[slot, _DISTANCE] > slots[other, _DISTANCE]
                if later:
                    slot = other
            best_slots[2, n] = slot
            n += 1
            if slot < BEAM:
                a += 1
            else:
                b += 1
        # Apply: branches copy their parents' rows while these are unchanged, then all rows get their new values.
        for k in range(n):
            slot = best_slots[2, k]
            m = slots[slot, _MOVE]
            if m >= 0:
                n_free -= 1
                row, parent = free[n_free], slots[slot, _ROW]
                slots[slot, _ROW] = row
                for column in range(_LINK, width):
                    state[row, column] = state[parent, column]
                for place in range(matches[m, HYP_START], matches[m, HYP_START] + matches[m, HYP_LENGTH]):
                    state[row, _BITS + (place >> 6)] |= np.int64(1) << (place & 63)
                for place in range(j, j + matches[m, REF_LENGTH]):
                    state[row, ref_bits + (place >> 6)] |= np.int64(1) << (place & 63)
                chain[links, 0], chain[links, 1] = state[row, _LINK], m
                state[row, _LINK] = links
                links += 1
            last_used[slots[slot, _ROW]] = j + 1
        for k in range(paths):
            if last_used[live[k]] != j + 1:
                free[n_free] = live[k]
                n_free += 1
        for k in range(n):
            slot = best_slots[2, k]
            row, m = slots[slot, _ROW], slots[slot, _MOVE]
            live[k] = row
            state[row, _RANK], state[row, _DISTANCE] = slots[slot, _RANK], slots[slot, _DISTANCE]
            if m == _SKIP:
                state[row, _NEXT] = j + 1
                state[row, _END] = -1
            elif m != _PASS:
                m = np.int64(fixed[j]) if m == _FIXED else m
                state[row, _NEXT] = j + matches[m, REF_LENGTH]
                state[row, _END] = matches[m, HYP_START] + matches[m, HYP_LENGTH]
        paths = n
    # Close open chunks; among equal paths the first is the best.
    best = live[0]
    best_rank = state[best, _RANK] + (state[best, _END] != -1)
    for k in range(1, paths):
        row = live[k]
        rank = state[row, _RANK] + (state[row, _END] != -1)
        if rank < best_rank or (rank == best_rank and state[row, _DISTANCE] < state[best, _DISTANCE]):
            best, best_rank = row, rank
    return best
