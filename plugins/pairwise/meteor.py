"""METEOR 1.5 for English without Java: statistics, scores and all-pairs matrices, equal to meteor-1.5.jar's.

Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target Language"; options ``-l en
-norm`` of the COCO caption toolkit. Higher is better, [0, 1], **not symmetric** (recall weighs .85). The functions
here take raw text; the COCO pipeline runs the PTB tokeniser first, see :class:`harness.plugins.pairwise.meteor_metric.Meteor`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from harness.errors import InputError, require
from harness.plugins.pairwise.meteor_score import N_STATISTICS, scores_of, summable
from harness.plugins.text import lexicon
from harness.plugins.text.chunks import run_slices
from harness.plugins.text.meteor_texts import TextTable, WordTable

log = logging.getLogger(__name__)

Pair = tuple[str, Sequence[str]]
"""A hypothesis and its references."""

_ITEMS_AT_ONCE = 1 << 15
_WORTH = 16
"""A pair here is as much work as so many pairs of n-gram counts."""


class Aligned(NamedTuple):
    """Scores of pairs and the statistics of those that were asked for."""

    scores: np.ndarray
    """(pairs,) float64."""
    statistics: np.ndarray
    """(rows, 23) int32."""


def new_table() -> TextTable:
    """An empty table of prepared texts; words are shared by all tables of the process."""
    return TextTable(_words())


@cache
def _words() -> WordTable:
    require("numba", extra="text", needed_by="METEOR")
    words = WordTable(lexicon.load())
    log.info("METEOR: loading the compiled kernels (compiling them on first use takes about half a minute)")
    return words


# ---------------------------------------------------------------------- raw text
def statistics(pairs: Iterable[Pair]) -> np.ndarray:
    """(n, 23) float64: the jar's SCORE answers, for each hypothesis against the first reference of the highest score.

    Order: words of hypothesis and reference, function words of both; for exact, stem, synonym, paraphrase the words matched as
    content of hypothesis and reference, as function words of both; chunks; matched words of both. Raises
    :class:`InputError` for a pair without references or with texts too long and repetitive to align.
    """
    pairs = [(hypothesis, list(references)) for hypothesis, references in pairs]
    out = np.empty((len(pairs), N_STATISTICS))
    table = new_table()
    for first in range(0, len(pairs), _ITEMS_AT_ONCE):
        part = pairs[first : first + (_ITEMS_AT_ONCE)]
        out[first : first + len(part)] = _best_statistics(table, part, first)
    return out


def scores(pairs: Iterable[Pair]) -> np.ndarray:
    """(n,) segment scores, each the highest over its references."""
    return scores_of(statistics(pairs))


def corpus_score(statistics: np.ndarray) -> float:
    """The number COCO reports: the score of the summed (n, 23) statistics, not the mean of the segment scores."""
    return float(scores_of(summable(statistics).sum(axis=0, keepdims=True))[0])


def matrix(texts: Sequence[str]) -> np.ndarray:
    """(T, T) scores, rows the hypothesis, columns the reference.

    >>> matrix(["a dog runs", "a dog is running"]).shape
    (2, 2)
    """
    table = new_table()
    return matrices(table, table.intern(texts)[None])[0]


def _best_statistics(table: TextTable, pairs: list[Pair], number: int) -> np.ndarray:
    counts = np.array([len(references) for _, references in pairs], dtype=np.int64)
    if len(counts) and counts.min() == 0:
        raise InputError("a hypothesis needs at least one reference", f"pair {number + int(counts.argmin()) + 1}")
    ids = table.intern(text for hypothesis, references in pairs for text in (hypothesis, *references))
    starts = np.concatenate([[0], np.cumsum(counts)])
    refs = np.arange(starts[-1], dtype=np.int64) - np.repeat(starts[:-1], counts) + 1
    found = align(
        table,
        text_starts=starts + np.arange(len(starts)),
        texts=ids,
        pair_starts=starts,
        hyps=np.zeros(len(refs), dtype=np.int32),
        refs=refs.astype(np.int32),
        rows=np.arange(len(refs), dtype=np.int64),
    )
    best = np.maximum.reduceat(found.scores, starts[:-1]) if len(counts) else found.scores
    candidates = np.where(found.scores == np.repeat(best, counts), np.arange(len(refs)), len(refs))
    first = np.minimum.reduceat(candidates, starts[:-1]) if len(counts) else candidates
    return found.statistics[first].astype(np.float64)


# ---------------------------------------------------------------------- prepared texts
def matrices(table: TextTable, text_ids: np.ndarray) -> np.ndarray:
    """(B, N, N) scores among the N texts of each of B examples, given as (B, N) ids of ``table``."""
    return aligned_matrices(table, text_ids, 0, 0).scores.reshape(*text_ids.shape, text_ids.shape[1])


def aligned_matrices(table: TextTable, text_ids: np.ndarray, n: int, m: int) -> Aligned:
    """Scores (B * N * N,) of all pairs, and the statistics (B * n * m, 23) of the first n texts against the m texts that follow."""
    size, width = text_ids.shape
    places = np.arange(width, dtype=np.int32)
    hyps, refs = np.repeat(places, width), np.tile(places, width)
    wanted = (hyps < n) & (refs >= n) & (refs < n + m)
    row = np.where(wanted, np.cumsum(wanted) - 1, -1)
    step = int(wanted.sum())
    rows = np.where(row >= 0, row + step * np.arange(size)[:, None], -1)
    return align(
        table,
        text_starts=np.arange(size + 1, dtype=np.int64) * width,
        texts=np.ascontiguousarray(text_ids, dtype=np.int64).ravel(),
        pair_starts=np.arange(size + 1, dtype=np.int64) * width * width,
        hyps=np.tile(hyps, size),
        refs=np.tile(refs, size),
        rows=rows.ravel(),
    )


def aligned_block(table: TextTable, text_ids: np.ndarray, n: int) -> Aligned:
    """Scores (B * n * m,) and statistics (B * n * m, 23) of the first n texts of each example against the other m."""
    size, width = text_ids.shape
    m = width - n
    return align(
        table,
        text_starts=np.arange(size + 1, dtype=np.int64) * width,
        texts=np.ascontiguousarray(text_ids, dtype=np.int64).ravel(),
        pair_starts=np.arange(size + 1, dtype=np.int64) * (n * m),
        hyps=np.tile(np.repeat(np.arange(n, dtype=np.int32), m), size),
        refs=np.tile(np.tile(np.arange(n, width, dtype=np.int32), n), size),
        rows=np.arange(size * n * m, dtype=np.int64),
    )


def align(table: TextTable, **groups: np.ndarray) -> Aligned:
    """Align the pairs of groups of texts (the fields of ``meteor_kernels.Groups``), on all cores.

    Raises :class:`InputError` for a pair with more matches than can be searched.
    """
    from harness.plugins.pairwise import meteor_kernels as kernels  # numba

    packed = kernels.Groups(**groups)
    prepared = table.prepared()
    scores = np.zeros(len(packed.hyps))
    statistics = np.zeros((int(packed.rows.max(initial=-1)) + 1, N_STATISTICS), dtype=np.int32)
    n_numbers, n_synsets = table.words.n_numbers, table.words.lexicon.n_synsets

    def work(start: int, stop: int) -> None:
        pair = kernels.score_groups(start, stop, packed, prepared, n_numbers, n_synsets, scores, statistics)
        if pair >= 0:
            _refuse(table, packed, pair)

    n_groups = len(packed.text_starts) - 1
    run_slices(work, n_groups, pairs=_WORTH * len(packed.hyps) // max(n_groups, 1))
    return Aligned(scores, statistics)


def _refuse(table: TextTable, groups, pair: int) -> None:
    group = int(np.searchsorted(groups.pair_starts, pair, side="right")) - 1
    texts = groups.texts[groups.text_starts[group] :]
    hyp, ref = (len(table.word_ids(int(texts[place[pair]]))) for place in (groups.hyps, groups.refs))
    raise InputError(
        f"METEOR cannot align texts of {hyp} and {ref} words: more than 4 million word matches between them; expected sentences"
    )
