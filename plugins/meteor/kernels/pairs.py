"""Compiled alignment and scores of pairs of texts.

A group is the texts of one example (or one hypothesis and its references) and a list of pairs among them. Word relations and paraphrases
are computed once per group (:mod:`harness.plugins.meteor.kernels.groups`), then each pair is aligned. The module imports numba, so other
modules import it only when scores are computed. It is tested for equality with :mod:`harness.plugins.meteor.reference`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from harness.plugins.compiled.cache_keys import INNER, ONCE, source_stamp
from harness.plugins.compiled.checked_cache import cached
from harness.plugins.meteor.kernels import SOURCES
from harness.plugins.meteor.kernels.groups import Scratch, group_phrases, group_words
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
"""Maximum number of matches of one pair. Only two repetitive texts of several thousand words each exceed it."""

_PARAPHRASE = 3
_FIRST_ROOM = 512

score_one = njit(**INNER)(segment_score)


class Groups(NamedTuple):
    """Pairs to align: groups of text ids, and pairs of positions within each group."""

    text_starts: np.ndarray
    """(groups + 1,) int64 bounds in ``texts``."""
    texts: np.ndarray
    """int64 text ids."""
    pair_starts: np.ndarray
    """(groups + 1,) int64 bounds in the three arrays below."""
    hyps: np.ndarray
    """int32 position of the hypothesis in its group."""
    refs: np.ndarray
    """int32 position of the reference in its group."""
    rows: np.ndarray
    """int64 row of the output that receives the pair's statistics, -1 for none."""


# ---------------------------------------------------------------------- per pair
@njit(**INNER)
def _larger(matches):
    """Return a copy of the matches (room, 5) with twice the room."""
    out = np.empty((2 * matches.shape[0], 5), dtype=np.int32)
    for m in range(matches.shape[0]):  # a slice assignment takes numba seconds to compile
        for column in range(5):
            out[m, column] = matches[m, column]
    return out


@njit(**INNER)
def _put(matches, n, j, ref_length, i, hyp_length, module):
    """Write match ``n``: reference words from ``j``, hypothesis words from ``i``."""
    matches[n, REF_START] = j
    matches[n, REF_LENGTH] = ref_length
    matches[n, HYP_START] = i
    matches[n, HYP_LENGTH] = hyp_length
    matches[n, MODULE] = module


@njit(**ONCE)
def _word_matches(matches, local, h, r, same, mark):
    """Return the matches of single words and their number. With ``same`` only the exact module runs.

    ``mark`` is zero for every word on entry and on return.
    """
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
    """Append matches of phrases in text ``a`` with their paraphrases in text ``b``; return the matches and their number.

    ``swapped`` is 1 when ``a`` is the hypothesis, 0 when it is the reference.
    """
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
    """Sort the matches by their first reference word (a stable counting sort).

    Matches ``order[at[j]:at[j + 1]]`` start at reference word j; ``at`` has ``ref_length + 1`` entries.
    """
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
    """Set ``fixed[j]`` to the match at reference word j that no other match overlaps, else to -1.

    Returns True when some matches overlap, so that a search is necessary. ``ref_cover`` and ``hyp_cover`` are work arrays.
    """
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
    rivals = False
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
        rivals |= at[j + 1] > at[j] and fixed[j] < 0
    return rivals


@njit(**ONCE)
def _count(matches, selection, local, function, h, r, out):
    """Write the 23 statistics of an alignment to ``out``; ``selection[j]`` is the match at reference word j or -1."""
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
        m = selection[j]
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
    """Return True when two texts of the group have the same sequence of word keys."""
    n = local.starts[h + 1] - local.starts[h]
    if n != local.starts[r + 1] - local.starts[r]:
        return False
    for k in range(n):  # noqa: SIM110 - a generator is slower than the loop
        if keys[local.words[local.starts[h] + k]] != keys[local.words[local.starts[r] + k]]:
            return False
    return True


@njit(**INNER)
def _score_group(g, groups, prepared, scratch, scores, statistics):
    """Align and score all pairs of a group; return the first pair with more than ``MOST_MATCHES`` matches, or -1."""
    texts, words, table = prepared
    ids = groups.texts[groups.text_starts[g] : groups.text_starts[g + 1]]
    local = group_words(texts, ids, words, scratch)
    phrases = group_phrases(texts, ids, table)
    keys, function = words.keys[local.distinct], words.function[local.distinct]
    longest = np.int64(0)  # a plain 0 is another type, for which the callees are compiled again
    for t in range(ids.shape[0]):
        longest = max(longest, local.starts[t + 1] - local.starts[t])
    beam = new_beam(longest)
    matches, order = np.empty((_FIRST_ROOM, 5), dtype=np.int32), np.empty(_FIRST_ROOM, dtype=np.int32)
    mark = np.zeros(local.distinct.shape[0], dtype=np.uint8)
    at, fixed = np.zeros(longest + 1, dtype=np.int64), np.empty(longest, dtype=np.int32)
    ref_cover, hyp_cover = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    selection, row = np.empty(longest, dtype=np.int32), np.zeros(23, dtype=np.int64)
    for pair in range(groups.pair_starts[g], groups.pair_starts[g + 1]):
        h, r = groups.hyps[pair], groups.refs[pair]
        lengths = (local.starts[h + 1] - local.starts[h], local.starts[r + 1] - local.starts[r])
        equal = _same_keys(local, keys, h, r)
        matches, n = _word_matches(matches, local, h, r, equal, mark)
        if not equal and n <= MOST_MATCHES:
            for swapped in range(2):
                a, b = (h, r) if swapped else (r, h)
                matches, n = _phrase_matches(matches, n, phrases, a, b, swapped)
        if n > MOST_MATCHES:
            return pair
        if n > order.shape[0]:
            order = np.empty(matches.shape[0], dtype=np.int32)
        _by_reference(matches, n, lengths[1], at, order)
        if _fix(matches, n, at, order, fixed, ref_cover, hyp_cover, lengths):
            search(beam, matches, at, order, fixed, lengths[1], selection)
        else:
            for j in range(lengths[1]):
                selection[j] = fixed[j]
        _count(matches, selection, local, function, h, r, row)
        scores[pair] = score_one(row)
        if groups.rows[pair] >= 0:
            for column in range(23):
                statistics[groups.rows[pair], column] = row[column]
    return -1


# ---------------------------------------------------------------------- entry points
def _entry_points(stamp: int) -> tuple[Any, Any]:
    """Return ``score_groups`` and ``score_rows``; ``stamp`` becomes part of the key of their machine code in numba's cache."""

    @cached
    def score_groups(start, stop, groups, prepared, n_numbers, n_synsets, scores, statistics):
        """Align the pairs of groups ``start`` to ``stop - 1`` and write their scores and statistics.

        Parameters
        ----------
        start, stop : int
            Range of groups.
        groups : Groups
        prepared : Prepared
        n_numbers, n_synsets : int
            Number of hash numbers and of synonym sets.
        scores : (pairs,) float64
            Output: score of each pair.
        statistics : (rows, 23) int32
            Output: statistics of the pairs with a row.

        Returns
        -------
        int
            Index of a pair with more than ``MOST_MATCHES`` matches, at which the work stops, or -1.
        """
        _ = stamp
        scratch = Scratch(
            np.full(prepared.words.keys.shape[0], -1, dtype=np.int32),
            np.full(n_numbers, -1, dtype=np.int32),
            np.full(n_numbers, -1, dtype=np.int32),
            np.full(n_synsets, -1, dtype=np.int32),
        )
        for g in range(start, stop):
            excess = _score_group(g, groups, prepared, scratch, scores, statistics)
            if excess >= 0:
                return excess
        return -1

    @cached
    def score_rows(statistics):
        """Return the scores (n,) of statistics (n, 23), float64."""
        _ = stamp
        out = np.empty(statistics.shape[0])
        for row in range(statistics.shape[0]):
            out[row] = score_one(statistics[row])
        return out

    return score_groups, score_rows


score_groups, score_rows = _entry_points(source_stamp(*SOURCES))
