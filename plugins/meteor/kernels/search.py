"""METEOR's beam search, compiled: from the matches of one pair to its best alignment.

The same search as :mod:`harness.plugins.meteor.reference`, which is the version to read first. A path is a row of numbers and
stays in its row while it skips words or takes fixed matches; a branch that is among the best 40 gets a row of its own.
Of the proposals of a step, those that go on in their row and those that branch come nearly sorted; each kind is kept in order while it
is made and the two are merged, equals in the order in which they were made: a stable sort. Used words are bits, a path's matches a
chain back through the search.

The steps are long functions on purpose: every array that is passed on, taken out of a tuple or sliced inside the loop costs two atomic
reference counts, together ten times the work itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER

BEAM = 40

REF_START, REF_LENGTH, HYP_START, HYP_LENGTH, MODULE = range(5)
"""Columns of a pair's matches, (room, 5) int32."""

_RANK, _DISTANCE, _NEXT, _END, _LINK, _BITS = range(6)
_ROW, _TAKEN, _TURN = 2, 3, 4  # columns of ``slots`` behind rank and distance
_PASS, _FIXED, _SKIP = -1, -2, -3


class Beam(NamedTuple):
    """The paths of a search and what a step proposes."""

    state: np.ndarray
    """(80, 5 + 2 * bits) int64: rank, distance, next reference word, end of the open chunk, last link of the chain, then the used words
    of the hypothesis and of the reference as bits. The rank is chunks less 2**32 for each matched word: smaller is better."""
    live: np.ndarray
    """(40,) int64 rows of the paths, best first."""
    free: np.ndarray
    """(80,) int64 stack of unused rows."""
    kept: np.ndarray
    """(80,) int64: the last step at which a row was kept."""
    slots: np.ndarray
    """(80, 5) int64 proposals: rank, distance, row, a match or _PASS, _FIXED, _SKIP, and when it was made; first those that go on in
    their row, from row 40 on those that branch."""
    order: np.ndarray
    """(3, 40) int64 slots, best first: of those that go on, of those that branch, of all."""
    chain: np.ndarray
    """(40 * words + 1, 2) int64: previous link, match."""


@njit(**INNER)
def new_beam(longest):
    """Room for pairs of up to ``longest`` words a side."""
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
def search(beam, matches, at, listed, fixed, ref_length, chosen):
    """Fill ``chosen`` with the match that starts at each reference word in the best path, -1 for none.

    ``listed[at[j]:at[j + 1]]`` are the matches at word j; ``fixed[j]`` is the match there that has no rival, or -1.
    """
    _start(beam.state, matches, fixed, ref_length)
    best = _walk(
        beam.state, beam.live, beam.free, beam.kept, beam.slots, beam.order, beam.chain,
        matches, at, listed, fixed, ref_length,
    )  # fmt: skip
    for j in range(ref_length):
        chosen[j] = fixed[j]
    link = beam.state[best, _LINK]
    while link > 0:
        m = beam.chain[link, 1]
        chosen[matches[m, REF_START]] = m
        link = beam.chain[link, 0]


@njit(**INNER)
def _start(state, matches, fixed, ref_length):
    """The first path, in row 0: words of fixed matches are used, nothing is taken yet."""
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
def _walk(state, live, free, kept, slots, order, chain, matches, at, listed, fixed, ref_length):
    """Take the paths from row 0 through all reference words; returns the row of the best."""
    width = state.shape[1]
    ref_bits = _BITS + ((width - _BITS) >> 1)
    live[0] = 0
    paths = links = 1
    n_free = 2 * BEAM - 1
    for row in range(2 * BEAM):
        free[row] = row + 1
        kept[row] = 0
    for j in range(ref_length):
        going = branching = 0
        # Propose: a path branches into the matches that are free, then goes on in its row.
        for turn in range(paths):
            row = live[turn]
            rank, distance, end = state[row, _RANK], state[row, _DISTANCE], state[row, _END]
            first, stop, own = at[j], at[j + 1], _SKIP
            if state[row, ref_bits + (j >> 6)] >> (j & 63) & 1:
                first = stop
                own = _PASS if j < state[row, _NEXT] else _FIXED
                if own == _FIXED and fixed[j] < 0:
                    continue
            for k in range(first, stop + 1):
                kind = 1 if k < stop else 0
                taken = np.int64(listed[k]) if kind else own
                offered, away = rank, 0
                if taken >= 0 or taken == _FIXED:
                    m = taken if kind else np.int64(fixed[j])
                    i, hyp, ref = np.int64(matches[m, HYP_START]), matches[m, HYP_LENGTH], matches[m, REF_LENGTH]
                    if kind:
                        used = 0
                        for place in range(i, i + hyp):
                            used |= state[row, _BITS + (place >> 6)] >> (place & 63) & 1
                        for place in range(j, j + ref):
                            used |= state[row, ref_bits + (place >> 6)] >> (place & 63) & 1
                        if used:
                            continue
                    # All its words count when exact, else half of each side, cut to a whole number.
                    gain = hyp + ref if matches[m, MODULE] == 0 else (hyp >> 1) + (ref >> 1)
                    offered += (end != -1 and end != i) - (np.int64(gain) << 32)
                    away = abs(j - i)
                elif taken == _SKIP:
                    offered += end != -1
                if taken == _FIXED:
                    distance += away
                n = branching if kind else going
                place = n
                if n == BEAM:  # branches alone can be more than 40
                    place = BEAM - 1
                    slot = order[1, place]
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
                        other = order[kind, place - 1]
                        worse = slots[other, _RANK] > offered
                        if not worse and (slots[other, _RANK] < offered or slots[other, _DISTANCE] <= distance):
                            break
                        order[kind, place] = other
                        place -= 1
                    order[kind, place] = slot
                    slots[slot, _RANK] = offered
                    slots[slot, _DISTANCE] = distance
                    slots[slot, _ROW] = row
                    slots[slot, _TAKEN] = taken
                    slots[slot, _TURN] = turn
                if kind:
                    distance += away  # to the parent: seen by its later branches and by the skip
        if going == 0:  # no path goes on: the best one stays as it is
            row = live[0]
            order[0, 0] = slots[0, _TURN] = 0
            slots[0, _RANK], slots[0, _DISTANCE] = state[row, _RANK], state[row, _DISTANCE]
            slots[0, _ROW], slots[0, _TAKEN] = row, _PASS
            going = 1
        # Merge the two kinds; of equals the earlier path first, and its branches before itself.
        a = b = n = 0
        while n < BEAM and (a < going or b < branching):
            slot = order[0, a] if a < going else order[1, b]
            if a < going and b < branching:
                other = order[1, b]
                later = slots[slot, _TURN] >= slots[other, _TURN]
                if slots[slot, _RANK] != slots[other, _RANK]:
                    later = slots[slot, _RANK] > slots[other, _RANK]
                elif slots[slot, _DISTANCE] != slots[other, _DISTANCE]:
                    later = slots[slot, _DISTANCE] > slots[other, _DISTANCE]
                if later:
                    slot = other
            order[2, n] = slot
            n += 1
            if slot < BEAM:
                a += 1
            else:
                b += 1
        # Settle: branches get rows of their own while their parents' are untouched, then all get their new numbers.
        for k in range(n):
            slot = order[2, k]
            m = slots[slot, _TAKEN]
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
            kept[slots[slot, _ROW]] = j + 1
        for k in range(paths):
            if kept[live[k]] != j + 1:
                free[n_free] = live[k]
                n_free += 1
        for k in range(n):
            slot = order[2, k]
            row, m = slots[slot, _ROW], slots[slot, _TAKEN]
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
    # Close open chunks; the first of the best wins.
    best = live[0]
    best_rank = state[best, _RANK] + (state[best, _END] != -1)
    for k in range(1, paths):
        row = live[k]
        rank = state[row, _RANK] + (state[row, _END] != -1)
        if rank < best_rank or (rank == best_rank and state[row, _DISTANCE] < state[best, _DISTANCE]):
            best, best_rank = row, rank
    return best
