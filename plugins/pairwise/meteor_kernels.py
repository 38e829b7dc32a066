"""METEOR's pairs, compiled: groups of texts that are compared with one another, on all cores.

A group is the texts of one example (or one hypothesis and its references) and a list of pairs among them. What the pairs share is
found once per group: which words match which, and which of the table's paraphrases can occur at all. Imported only when
scores are computed (numba); tested against :mod:`harness.plugins.pairwise.meteor_reference` for equality.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from harness.plugins.pairwise.meteor_score import segment_score
from harness.plugins.pairwise.meteor_search import (
    HYP_LENGTH,
    HYP_START,
    MODULE,
    REF_LENGTH,
    REF_START,
    new_beam,
    search,
)

MOST_MATCHES = 1 << 22
"""Matches of one pair beyond which it is refused (two texts of several thousand words that repeat themselves)."""

_EXACT, _STEM, _SYNONYM, _PARAPHRASE = range(4)
_FIRST_ROOM = 512

score_one = njit(cache=True, nogil=True)(segment_score)


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


class Stamps(NamedTuple):
    """Scratch by word, by hash number and by synonym set; -1 between groups."""

    word: np.ndarray
    key: np.ndarray
    stem: np.ndarray
    synset: np.ndarray


class Local(NamedTuple):
    """The words of a group: distinct words, and which of them match which."""

    starts: np.ndarray
    """(texts + 1,) bounds in ``words``."""
    words: np.ndarray
    """Each text's words as places in ``distinct``."""
    distinct: np.ndarray
    """Word ids."""
    related_starts: np.ndarray
    related: np.ndarray
    """Words that match a word, by any of the first three modules."""
    codes: np.ndarray
    """uint8 bits of those modules."""


class Phrasing(NamedTuple):
    """The phrases of a group: for each of its texts, occurrences whose phrase has a paraphrase in the group."""

    starts: np.ndarray
    """(texts + 1,) bounds in the three arrays below."""
    phrases: np.ndarray
    at: np.ndarray
    length: np.ndarray
    target_starts: np.ndarray
    targets: np.ndarray
    """Paraphrases, inside the group, of each phrase in the order of the table."""
    heads: np.ndarray
    """(texts, phrases) first occurrence of a phrase in a text, -1 for none."""
    following: np.ndarray
    """Next occurrence of the same phrase in the same text, -1 for none."""


@njit(cache=True, nogil=True)
def score_rows(statistics):
    """(n,) scores of (n, 23) statistics."""
    out = np.empty(statistics.shape[0])
    for row in range(statistics.shape[0]):
        out[row] = score_one(statistics[row])
    return out


# ---------------------------------------------------------------------- per text
@njit(cache=True, nogil=True)
def _child(table, node, word):
    low, high = table.first_edge[node], table.first_edge[node + 1]
    while low < high:
        middle = (low + high) >> 1
        if table.edge_words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < table.first_edge[node + 1] and table.edge_words[low] == word:
        return low + 1
    return -1


@njit(cache=True, nogil=True)
def _grown(array, size):
    out = np.empty(max(size, 2 * array.shape[0]), dtype=array.dtype)
    out[: array.shape[0]] = array
    return out


@njit(cache=True, nogil=True)
def find_phrases(starts, words, table):
    """Every occurrence of a phrase of the table: (bounds by text, node, first word, length), by position and length."""
    bounds = np.zeros(starts.shape[0], dtype=np.int64)
    nodes = np.empty(words.shape[0] * 4 + 16, dtype=np.int32)
    at, length = np.empty_like(nodes), np.empty_like(nodes)
    n = 0
    for t in range(starts.shape[0] - 1):
        for first in range(starts[t], starts[t + 1]):
            node = 0
            for last in range(first, starts[t + 1]):
                node = _child(table, node, words[last]) if words[last] >= 0 else -1
                if node < 0:
                    break
                if n == nodes.shape[0]:
                    nodes, at, length = _grown(nodes, n + 1), _grown(at, n + 1), _grown(length, n + 1)
                nodes[n], at[n], length[n] = node, first - starts[t], last + 1 - first
                n += 1
        bounds[t + 1] = n
    return bounds, nodes[:n], at[:n], length[:n]


# ---------------------------------------------------------------------- per group: words
@njit(cache=True, nogil=True)
def _localise(texts, ids, words, stamps):
    """The group's words: bounds, places in the list of distinct words, that list."""
    starts = np.zeros(ids.shape[0] + 1, dtype=np.int64)
    for t in range(ids.shape[0]):
        starts[t + 1] = starts[t] + texts.word_starts[ids[t] + 1] - texts.word_starts[ids[t]]
    places = np.empty(starts[-1], dtype=np.int32)
    distinct = np.empty(starts[-1], dtype=np.int32)
    n = 0
    for t in range(ids.shape[0]):
        first = texts.word_starts[ids[t]]
        for k in range(starts[t + 1] - starts[t]):
            word = texts.words[first + k]
            if stamps.word[word] < 0:
                stamps.word[word] = n
                distinct[n] = word
                n += 1
            places[starts[t] + k] = stamps.word[word]
    for k in range(n):
        stamps.word[distinct[k]] = -1
    return starts, places, distinct[:n]


@njit(cache=True, nogil=True)
def _chains(distinct, words, stamps):
    """Link the words that share a key, a stem or a synonym set; the heads stand in ``stamps``."""
    n = distinct.shape[0]
    by_key, by_stem = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    size = 0
    for k in range(n):
        size += words.synset_starts[distinct[k] + 1] - words.synset_starts[distinct[k]]
    by_synset, member = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    link = 0
    for k in range(n):
        word = distinct[k]
        by_key[k], stamps.key[words.keys[word]] = stamps.key[words.keys[word]], k
        by_stem[k], stamps.stem[words.stems[word]] = stamps.stem[words.stems[word]], k
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            synset = words.synset_ids[s]
            by_synset[link], member[link] = stamps.synset[synset], k
            stamps.synset[synset] = link
            link += 1
    return by_key, by_stem, by_synset, member


@njit(cache=True, nogil=True)
def _unstamp(distinct, words, stamps):
    for k in range(distinct.shape[0]):
        word = distinct[k]
        stamps.key[words.keys[word]] = -1
        stamps.stem[words.stems[word]] = -1
        for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
            stamps.synset[words.synset_ids[s]] = -1


@njit(cache=True, nogil=True, inline="always")
def _relate(seen, out, n, other, code):
    if seen[other] == 0:
        out[n] = other
        n += 1
    seen[other] |= code
    return n


@njit(cache=True, nogil=True)
def _relations_of(k, distinct, words, stamps, chains, seen, out):
    """List in ``out`` the words that match word ``k``, their module bits in ``seen``; returns their number."""
    by_key, by_stem, by_synset, member = chains
    word, n = distinct[k], 0
    other = stamps.key[words.keys[word]]
    while other >= 0:
        n = _relate(seen, out, n, other, 1 << _EXACT)
        other = by_key[other]
    other = stamps.stem[words.stems[word]]
    while other >= 0:
        if words.keys[distinct[other]] != words.keys[word]:
            n = _relate(seen, out, n, other, 1 << _STEM)
        other = by_stem[other]
    for s in range(words.synset_starts[word], words.synset_starts[word + 1]):
        link = stamps.synset[words.synset_ids[s]]
        while link >= 0:
            if words.keys[distinct[member[link]]] != words.keys[word]:
                n = _relate(seen, out, n, member[link], 1 << _SYNONYM)
            link = by_synset[link]
    return n


@njit(cache=True, nogil=True)
def _group_words(texts, ids, words, stamps):
    starts, places, distinct = _localise(texts, ids, words, stamps)
    chains = _chains(distinct, words, stamps)
    n_words = distinct.shape[0]
    seen, row = np.zeros(n_words, dtype=np.uint8), np.empty(n_words, dtype=np.int32)
    bounds = np.zeros(n_words + 1, dtype=np.int64)
    related, codes = np.empty(2 * n_words + 8, dtype=np.int32), np.empty(2 * n_words + 8, dtype=np.uint8)
    for k in range(n_words):
        n = _relations_of(k, distinct, words, stamps, chains, seen, row)
        first = bounds[k]
        if first + n > related.shape[0]:
            related, codes = _grown(related, first + n), _grown(codes, first + n)
        for r in range(n):
            related[first + r], codes[first + r] = row[r], seen[row[r]]
            seen[row[r]] = 0
        bounds[k + 1] = first + n
    _unstamp(distinct, words, stamps)
    return Local(starts, places, distinct, bounds, related, codes)


# ---------------------------------------------------------------------- per group: phrases
@njit(cache=True, nogil=True, inline="always")
def _slot(slots, nodes, node):
    """Place of a phrase in the open-addressing table, or the free one where it belongs."""
    mask = slots.shape[0] - 1
    place = (node * 0x9E3779B1 >> 12) & mask
    while slots[place] >= 0 and nodes[slots[place]] != node:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def _number_phrases(texts, ids):
    """Local numbers of the group's phrases: (number of each occurrence, nodes, slots)."""
    size = 0
    for t in ids:
        size += texts.phrase_starts[t + 1] - texts.phrase_starts[t]
    room = 64
    while room < 4 * size:
        room *= 2
    slots = np.full(room, -1, dtype=np.int32)
    nodes, numbers = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int32)
    n = k = 0
    for t in ids:
        for o in range(texts.phrase_starts[t], texts.phrase_starts[t + 1]):
            node = np.int64(texts.phrases[o])
            place = _slot(slots, nodes, node)
            if slots[place] < 0:
                slots[place] = n
                nodes[n] = node
                n += 1
            numbers[k] = slots[place]
            k += 1
    return numbers, nodes[:n], slots


@njit(cache=True, nogil=True)
def _targets(nodes, slots, table):
    """Paraphrases inside the group of each of its phrases, in the order of the table."""
    bounds = np.zeros(nodes.shape[0] + 1, dtype=np.int64)
    targets = np.empty(nodes.shape[0] * 4 + 16, dtype=np.int32)
    n = 0
    for k in range(nodes.shape[0]):
        for e in range(table.first_target[nodes[k]], table.first_target[nodes[k] + 1]):
            other = slots[_slot(slots, nodes, np.int64(table.targets[e]))]
            if other >= 0:
                if n == targets.shape[0]:
                    targets = _grown(targets, n + 1)
                targets[n] = other
                n += 1
        bounds[k + 1] = n
    return bounds, targets[:n]


@njit(cache=True, nogil=True)
def _group_phrases(texts, ids, table):
    numbers, nodes, slots = _number_phrases(texts, ids)
    target_starts, targets = _targets(nodes, slots, table)
    useful = np.zeros(nodes.shape[0], dtype=np.uint8)  # has a paraphrase in the group, or is one
    for k in range(nodes.shape[0]):
        for e in range(target_starts[k], target_starts[k + 1]):
            useful[k] = useful[targets[e]] = 1
    starts = np.zeros(ids.shape[0] + 1, dtype=np.int64)
    phrases, at, length = np.empty_like(numbers), np.empty_like(numbers), np.empty_like(numbers)
    heads = np.full((ids.shape[0], nodes.shape[0]), -1, dtype=np.int32)
    following = np.full(numbers.shape[0], -1, dtype=np.int32)
    n = k = 0
    for t in range(ids.shape[0]):
        for o in range(texts.phrase_starts[ids[t]], texts.phrase_starts[ids[t] + 1]):
            if useful[numbers[k]]:
                phrases[n], at[n], length[n] = numbers[k], texts.phrase_at[o], texts.phrase_length[o]
                n += 1
            k += 1
        starts[t + 1] = n
        for o in range(n - 1, starts[t] - 1, -1):  # backwards, so that chains run forwards
            following[o] = heads[t, phrases[o]]
            heads[t, phrases[o]] = o
    return Phrasing(starts, phrases, at, length, target_starts, targets, heads, following)


# ---------------------------------------------------------------------- per pair
@njit(cache=True, nogil=True)
def _larger(matches):
    out = np.empty((2 * matches.shape[0], 5), dtype=np.int32)
    out[: matches.shape[0]] = matches
    return out


@njit(cache=True, nogil=True)
def _put(matches, n, j, ref_length, i, hyp_length, module):
    matches[n, REF_START] = j
    matches[n, REF_LENGTH] = ref_length
    matches[n, HYP_START] = i
    matches[n, HYP_LENGTH] = hyp_length
    matches[n, MODULE] = module


@njit(cache=True, nogil=True)
def _word_matches(matches, local, h, r, same, mark):
    """Matches of single words; returns (matches, their number). ``same``: the exact module alone runs."""
    n = 0
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _by_reference(matches, n, ref_length, at, order):
    """List the matches by the reference word at which they start, keeping their order (a counting sort)."""
    at[: ref_length + 1] = 0
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


@njit(cache=True, nogil=True)
def _fix(matches, n, at, order, fixed, ref_cover, hyp_cover, lengths):
    """Set ``fixed`` to the match at each reference word that has no rival, else -1; returns whether any is left open."""
    hyp_length, ref_length = lengths
    ref_cover[:ref_length] = 0
    hyp_cover[:hyp_length] = 0
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


@njit(cache=True, nogil=True)
def _count(matches, chosen, local, function, h, r, out):
    """The 23 statistics of an alignment (``chosen[j]``: match that starts at reference word j, or -1)."""
    out[:] = 0
    hyp, ref = local.starts[h], local.starts[r]
    out[0], out[1] = local.starts[h + 1] - hyp, local.starts[r + 1] - ref
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
        for k in range(matches[m, HYP_LENGTH]):
            out[first + 2 * function[local.words[hyp + i + k]]] += 1
        for k in range(matches[m, REF_LENGTH]):
            out[first + 1 + 2 * function[local.words[ref + j + k]]] += 1
        out[20] += j != ref_end or i != hyp_end
        ref_end, hyp_end = j + matches[m, REF_LENGTH], i + matches[m, HYP_LENGTH]
        out[21] += matches[m, HYP_LENGTH]
        out[22] += matches[m, REF_LENGTH]


@njit(cache=True, nogil=True)
def _same_keys(local, keys, h, r):
    n = local.starts[h + 1] - local.starts[h]
    if n != local.starts[r + 1] - local.starts[r]:
        return False
    for k in range(n):  # noqa: SIM110 - a generator costs more than the loop
        if keys[local.words[local.starts[h] + k]] != keys[local.words[local.starts[r] + k]]:
            return False
    return True


@njit(cache=True, nogil=True)
def _score_group(g, groups, prepared, stamps, scores, statistics):
    """Score all pairs of a group; returns the first pair refused for its number of matches, or -1."""
    texts, words, table = prepared
    ids = groups.texts[groups.text_starts[g] : groups.text_starts[g + 1]]
    local = _group_words(texts, ids, words, stamps)
    phrasing = _group_phrases(texts, ids, table)
    keys, function = words.keys[local.distinct], words.function[local.distinct]
    longest = 0
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
            matches, n = _phrase_matches(matches, n, phrasing, r, h, False)
            matches, n = _phrase_matches(matches, n, phrasing, h, r, True)
        if n > MOST_MATCHES:
            return pair
        if n > order.shape[0]:
            order = np.empty(matches.shape[0], dtype=np.int32)
        _by_reference(matches, n, lengths[1], at, order)
        if _fix(matches, n, at, order, fixed, ref_cover, hyp_cover, lengths):
            search(beam, matches, at, order, fixed, lengths[1], chosen)
        else:
            chosen[: lengths[1]] = fixed[: lengths[1]]
        _count(matches, chosen, local, function, h, r, row)
        scores[pair] = score_one(row)
        if groups.rows[pair] >= 0:
            statistics[groups.rows[pair]] = row
    return -1


@njit(cache=True, nogil=True)
def score_groups(start, stop, groups, prepared, n_numbers, n_synsets, scores, statistics):
    """Write scores (pairs,) and statistics (rows, 23) int32 of groups ``start .. stop``; returns a refused pair or -1."""
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
