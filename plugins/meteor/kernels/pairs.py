"""METEOR's pairs, compiled: groups of texts that are compared with one another, on all cores.

A group is the texts of one example (or one hypothesis and its references) and a list of pairs among them. What the pairs share is
found once per group: which words match which, and which of the table's paraphrases can occur at all. Imported only when
scores are computed (numba); tested against :mod:`harness.plugins.meteor.reference` for equality.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER, ONCE, source_stamp
from harness.plugins.meteor import score as meteor_score
from harness.plugins.meteor.kernels import groups as meteor_groups
from harness.plugins.meteor.kernels import search as meteor_search
from harness.plugins.meteor.kernels.groups import Stamps, group_phrases, group_words
from harness.plugins.meteor.kernels.search import (
    HYP_LENGTH,
    HYP_START,
    MODULE,
    REF_LENGTH,
    REF_START,
    new_beam,
    search,
)
from harness.plugins.meteor.score import segment_score

MOST_MATCHES = 1 << 22
"""Matches of one pair beyond which it is refused (two texts of several thousand words that repeat themselves)."""

_PARAPHRASE = 3
_FIRST_ROOM = 512

score_one = njit(**INNER)(segment_score)


class Groups(NamedTuple):
    """Which texts are compared: groups of text ids, and pairs of places inside a group."""

    text_starts: np.ndarray
    """(groups + 1,) int64 bounds in ``texts``."""
    texts: np.ndarray
    """int64 text ids."""
    pair_starts: np.ndarray
    """(groups + 1,) int64 bounds in the three arrays below."""
    hyps: np.ndarray
    """int32 place of the hypothesis in its group."""
    refs: np.ndarray
    """int32 place of the reference in its group."""
    rows: np.ndarray
    """int64 row of the output that gets the pair's statistics, -1 for none."""


# ---------------------------------------------------------------------- per pair
@njit(**INNER)
def _larger(matches):
    out = np.empty((2 * matches.shape[0], 5), dtype=np.int32)
    for m in range(matches.shape[0]):  # as a slice, numba compiles a broadcast and its messages: seconds
        for column in range(5):
            out[m, column] = matches[m, column]
    return out


@njit(**INNER)
def _put(matches, n, j, ref_length, i, hyp_length, module):
    matches[n, REF_START] = j
    matches[n, REF_LENGTH] = ref_length
    matches[n, HYP_START] = i
    matches[n, HYP_LENGTH] = hyp_length
    matches[n, MODULE] = module


@njit(**ONCE)
def _word_matches(matches, local, h, r, same, mark):
    """Matches of single words; returns (matches, their number). ``same``: the exact module alone runs."""
    n = np.int64(0)
    words, first, stop = local.words, local.starts[h], local.starts[h + 1]
    for j in range(local.starts[r + 1] - local.starts[r]):
        word = words[local.starts[r] + j]
        bits = 0
        for e in range(local.related_starts[word], local.related_starts[word + 1]):
            mark[local.related[e]] = local.codes[e]
        for k in range(first, stop):
            bits |= mark[words[k]]
        for module in range(1 if same else 3):
            if not bits >> module & 1:
                continue
            for k in range(first, stop):
                if mark[words[k]] >> module & 1:
                    if n == matches.shape[0]:
                        matches = _larger(matches)
                    _put(matches, n, j, 1, k - first, 1, module)
                    n += 1
        for e in range(local.related_starts[word], local.related_starts[word + 1]):
            mark[local.related[e]] = 0
        if n > MOST_MATCHES:
            break
    return matches, n


@njit(**ONCE)
def _phrase_matches(matches, n, ph, a, b, swapped):
    """Matches of a phrase in text ``a`` with its paraphrases in text ``b``; ``swapped`` when ``a`` is the hypothesis."""
    for o in range(ph.starts[a], ph.starts[a + 1]):
        phrase = ph.phrases[o]
        for e in range(ph.target_starts[phrase], ph.target_starts[phrase + 1]):
            other = ph.heads[b, ph.targets[e]]
            while other >= 0:
                if n == matches.shape[0]:
                    matches = _larger(matches)
                if swapped:
                    _put(matches, n, ph.at[other], ph.length[other], ph.at[o], ph.length[o], _PARAPHRASE)
                else:
                    _put(matches, n, ph.at[o], ph.length[o], ph.at[other], ph.length[other], _PARAPHRASE)
                n += 1
                other = ph.following[other]
        if n > MOST_MATCHES:
            break
    return matches, n


@njit(**ONCE)
def _by_reference(matches, n, ref_length, at, order):
    """List the matches by the reference word at which they start, keeping their order (a counting sort)."""
    for j in range(ref_length + 1):
        at[j] = 0
    for m in range(n):
        at[matches[m, REF_START] + 1] += 1
    for j in range(ref_length):
        at[j + 1] += at[j]
    for m in range(n):
        j = matches[m, REF_START]
        order[at[j]] = m
        at[j] += 1
    for j in range(ref_length, 0, -1):
        at[j] = at[j - 1]
    at[0] = 0


@njit(**ONCE)
def _fix(matches, n, at, order, fixed, ref_cover, hyp_cover, lengths):
    """Set ``fixed`` to the match at each reference word that has no rival, else -1; returns whether any is left open."""
    hyp_length, ref_length = lengths
    for j in range(ref_length):
        ref_cover[j] = 0
    for i in range(hyp_length):
        hyp_cover[i] = 0
    for m in range(n):
        for k in range(matches[m, REF_LENGTH]):
            ref_cover[matches[m, REF_START] + k] += 1
        for k in range(matches[m, HYP_LENGTH]):
            hyp_cover[matches[m, HYP_START] + k] += 1
    left = False
    for j in range(ref_length):
        fixed[j] = -1
        if at[j + 1] - at[j] == 1:
            m = order[at[j]]
            alone = True
            for k in range(matches[m, REF_LENGTH]):
                alone &= ref_cover[j + k] == 1
            for k in range(matches[m, HYP_LENGTH]):
                alone &= hyp_cover[matches[m, HYP_START] + k] == 1
            if alone:
                fixed[j] = m
        left |= at[j + 1] > at[j] and fixed[j] < 0
    return left


@njit(**ONCE)
def _count(matches, chosen, local, function, h, r, out):
    """The 23 statistics of an alignment (``chosen[j]``: match that starts at reference word j, or -1)."""
    for k in range(23):
        out[k] = 0
    hyp = local.starts[h]
    ref = local.starts[r]
    out[0] = local.starts[h + 1] - hyp
    out[1] = local.starts[r + 1] - ref
    for k in range(out[0]):
        out[2] += function[local.words[hyp + k]]
    for k in range(out[1]):
        out[3] += function[local.words[ref + k]]
    ref_end = hyp_end = -1
    for j in range(out[1]):
        m = chosen[j]
        if m < 0:
            continue
        first = 4 + 4 * matches[m, MODULE]
        i = matches[m, HYP_START]
        hyp_length = matches[m, HYP_LENGTH]
        ref_length = matches[m, REF_LENGTH]
        for k in range(hyp_length):
            out[first + 2 * function[local.words[hyp + i + k]]] += 1
        for k in range(ref_length):
            out[first + 1 + 2 * function[local.words[ref + j + k]]] += 1
        if j != ref_end or i != hyp_end:
            out[20] += 1
        ref_end = j + ref_length
        hyp_end = i + hyp_length
        out[21] += hyp_length
        out[22] += ref_length


@njit(**ONCE)
def _same_keys(local, keys, h, r):
    n = local.starts[h + 1] - local.starts[h]
    if n != local.starts[r + 1] - local.starts[r]:
        return False
    for k in range(n):  # noqa: SIM110 - a generator costs more than the loop
        if keys[local.words[local.starts[h] + k]] != keys[local.words[local.starts[r] + k]]:
            return False
    return True


@njit(**INNER)
def _score_group(g, groups, prepared, stamps, scores, statistics):
    """Score all pairs of a group; returns the first pair refused for its number of matches, or -1."""
    texts, words, table = prepared
    ids = groups.texts[groups.text_starts[g] : groups.text_starts[g + 1]]
    local = group_words(texts, ids, words, stamps)
    phrasing = group_phrases(texts, ids, table)
    keys, function = words.keys[local.distinct], words.function[local.distinct]
    longest = np.int64(0)  # a literal would have its callees compiled once more
    for t in range(ids.shape[0]):
        longest = max(longest, local.starts[t + 1] - local.starts[t])
    beam = new_beam(longest)
    matches, order = np.empty((_FIRST_ROOM, 5), dtype=np.int32), np.empty(_FIRST_ROOM, dtype=np.int32)
    mark = np.zeros(local.distinct.shape[0], dtype=np.uint8)
    at, fixed = np.zeros(longest + 1, dtype=np.int64), np.empty(longest, dtype=np.int32)
    ref_cover, hyp_cover = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    chosen, row = np.empty(longest, dtype=np.int32), np.zeros(23, dtype=np.int64)
    for pair in range(groups.pair_starts[g], groups.pair_starts[g + 1]):
        h, r = groups.hyps[pair], groups.refs[pair]
        lengths = (local.starts[h + 1] - local.starts[h], local.starts[r + 1] - local.starts[r])
        same = _same_keys(local, keys, h, r)
        matches, n = _word_matches(matches, local, h, r, same, mark)
        if not same and n <= MOST_MATCHES:
            for swapped in range(2):
                a, b = (h, r) if swapped else (r, h)
                matches, n = _phrase_matches(matches, n, phrasing, a, b, swapped)
        if n > MOST_MATCHES:
            return pair
        if n > order.shape[0]:
            order = np.empty(matches.shape[0], dtype=np.int32)
        _by_reference(matches, n, lengths[1], at, order)
        if _fix(matches, n, at, order, fixed, ref_cover, hyp_cover, lengths):
            search(beam, matches, at, order, fixed, lengths[1], chosen)
        else:
            for j in range(lengths[1]):
                chosen[j] = fixed[j]
        _count(matches, chosen, local, function, h, r, row)
        scores[pair] = score_one(row)
        if groups.rows[pair] >= 0:
            for column in range(23):
                statistics[groups.rows[pair], column] = row[column]
    return -1


# ---------------------------------------------------------------------- entry points
def _entry_points(stamp: int) -> tuple[Any, Any]:
    """``score_groups`` and ``score_rows``; ``stamp`` is part of the key under which numba keeps their machine code."""

    @njit(cache=True, nogil=True)
    def score_groups(start, stop, groups, prepared, n_numbers, n_synsets, scores, statistics):
        """Write scores (pairs,) and statistics (rows, 23) int32 of groups ``start .. stop``; returns a refused pair or -1."""
        _ = stamp
        stamps = Stamps(
            np.full(prepared.words.keys.shape[0], -1, dtype=np.int32),
            np.full(n_numbers, -1, dtype=np.int32),
            np.full(n_numbers, -1, dtype=np.int32),
            np.full(n_synsets, -1, dtype=np.int32),
        )
        for g in range(start, stop):
            refused = _score_group(g, groups, prepared, stamps, scores, statistics)
            if refused >= 0:
                return refused
        return -1

    @njit(cache=True, nogil=True)
    def score_rows(statistics):
        """(n,) scores of (n, 23) statistics."""
        _ = stamp
        out = np.empty(statistics.shape[0])
        for row in range(statistics.shape[0]):
            out[row] = score_one(statistics[row])
        return out

    return score_groups, score_rows


score_groups, score_rows = _entry_points(
    source_stamp(__file__, meteor_groups.__file__, meteor_search.__file__, meteor_score.__file__)
)
