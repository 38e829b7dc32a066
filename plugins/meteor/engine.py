"""METEOR 1.5 for English without Java: statistics, scores and all-pairs matrices, equal to meteor-1.5.jar's.

Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target Language"; options ``-l en
-norm`` of the COCO caption toolkit. Higher is better, [0, 1], **not symmetric** (recall weighs .85). The functions
here take raw text; the COCO pipeline runs the PTB tokeniser first, see :class:`harness.plugins.meteor.metric.Meteor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from harness.errors import InputError, require
from harness.plugins.compiled.cache_keys import imported
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.meteor.kernels import compile_ahead as meteor_compile
from harness.plugins.meteor.lexicon import cache as lexicon_cache
from harness.plugins.meteor.lexicon.lexicon import Lexicon
from harness.plugins.meteor.lexicon.paraphrases import ParaphraseTable
from harness.plugins.meteor.score import N_STATISTICS, scores_of, summable
from harness.plugins.meteor.texts import TextTable, WordTable

Pair = tuple[str, Sequence[str]]
"""A hypothesis and its references."""

_ITEMS_AT_ONCE = 1 << 15
_WORTH = 16
"""A pair here is as much work as so many pairs of n-gram counts."""
_TILE = 48
_first_use = Lock()


class Aligned(NamedTuple):
    """Scores of pairs, float64, and the statistics of those that were asked for, int32 with 23 columns."""

    scores: np.ndarray
    statistics: np.ndarray


class PreparedTexts(TextTable):
    """A table of prepared texts that aligns them; what a run keeps."""

    def __init__(self) -> None:
        super().__init__(_words())

    def align_places(self, text_ids: np.ndarray, wanted: np.ndarray, *, with_statistics: bool) -> Aligned:
        """See :func:`align_places`."""
        return align_places(self, text_ids, wanted, with_statistics=with_statistics)


def new_table() -> TextTable:
    """An empty table of prepared texts; words are shared by all tables of the process."""
    return TextTable(_words())


def _words() -> WordTable:
    """The words of this process, made once, by whichever thread comes first."""
    with _first_use:
        return _new_words()


@cache
def _new_words() -> WordTable:
    require("numba", extra="text", needed_by="METEOR")
    lexicon_cache.find_sources()  # what is missing is named at once
    meteor_compile.start()
    with imported(), ThreadPoolExecutor(1) as pool:
        lexicon = pool.submit(lexicon_cache.load)
        load_text_kernels()
        meteor_compile.wait()
        load_alignment()
        meteor_compile.done()
        return WordTable(lexicon.result())


def load_text_kernels() -> None:
    """Have all but the alignment's kernels compiled, or loaded."""
    TextTable(_no_words()).intern(["a", "b"])
    scores_of(np.zeros((1, N_STATISTICS)))


def load_alignment() -> None:
    """Have the alignment compiled, or loaded, by aligning nothing: the types of what it is given are all that matters."""
    from harness.plugins.meteor.kernels import pairs as kernels  # numba

    starts, places = np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    groups = kernels.Groups(starts, starts[:0], starts, places, places, starts[:0])
    texts = TextTable(_no_words()).prepared()
    kernels.score_groups(0, 0, groups, texts, 0, 0, np.zeros(0), np.zeros((0, N_STATISTICS), dtype=np.int32))


def _no_words() -> WordTable:
    empty = np.zeros(2, dtype=np.int32)
    empty.flags.writeable = False  # as mapped: another type to numba than an array of one's own
    return WordTable(
        Lexicon(frozenset(), {}, {}, {}, empty, empty[:0], 0, {}, ParaphraseTable(empty, empty[:0], empty, empty[:0]))
    )


# ---------------------------------------------------------------------- raw text
def statistics(pairs: Iterable[Pair]) -> np.ndarray:
    """(n, 23) float64: the jar's SCORE answers, for each hypothesis against the first reference of the highest score.

    Order: words of hypothesis and reference, function words of both; for exact, stem, synonym, paraphrase the words matched as
    content of hypothesis and reference, as function words of both; chunks; matched words of both. Raises
    :class:`InputError` for a pair without references or with texts too long and repetitive to align.
    """
    listed: list[Pair] = [(hypothesis, list(references)) for hypothesis, references in pairs]
    out = np.empty((len(listed), N_STATISTICS))
    table = new_table()
    for first in range(0, len(listed), _ITEMS_AT_ONCE):
        part = listed[first : first + (_ITEMS_AT_ONCE)]
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
    if counts.min() == 0:
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
    return found.statistics[first_best(found.scores, starts)].astype(np.float64)


def first_best(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """(n,) places of the first highest score in each run ``starts[i]:starts[i + 1]`` (none empty): the reference that counts."""
    counts = np.diff(starts)
    best = np.repeat(np.maximum.reduceat(scores, starts[:-1]), counts)
    return np.minimum.reduceat(np.where(scores == best, np.arange(len(scores)), len(scores)), starts[:-1])


# ---------------------------------------------------------------------- prepared texts
def matrices(table: TextTable, text_ids: np.ndarray) -> np.ndarray:
    """(B, N, N) scores among the N texts of each of B examples, given as (B, N) ids of ``table``."""
    size, width = text_ids.shape
    found = align_places(table, text_ids, np.ones((width, width), dtype=bool), with_statistics=False)
    return found.scores.reshape(size, width, width)


def align_places(table: TextTable, text_ids: np.ndarray, wanted: np.ndarray, *, with_statistics: bool) -> Aligned:
    """Align the same K places (hypothesis, reference) of every example.

    ``text_ids``: (B, N) ids of ``table``; ``wanted``: (N, N) bool with K true. Scores (B, K) in the order of ``np.nonzero(wanted)``,
    statistics (B, K, 23), or (B, 0, 23) when not asked for. Many texts are compared tile by tile, which bounds memory.
    """
    size, tiles, n_places = len(text_ids), list(_tiles(wanted)), int(wanted.sum())
    n_pairs = size * n_places
    found = align(
        table,
        text_starts=_bounds([len(tile.columns) for tile in tiles], size),
        texts=_joined([text_ids[:, tile.columns].ravel() for tile in tiles], np.int64),
        pair_starts=_bounds([len(tile.hyps) for tile in tiles], size),
        hyps=_joined([np.tile(tile.hyps, size) for tile in tiles], np.int32),
        refs=_joined([np.tile(tile.refs, size) for tile in tiles], np.int32),
        rows=np.arange(n_pairs, dtype=np.int64) if with_statistics else np.full(n_pairs, -1, dtype=np.int64),
    )
    scores = np.empty((size, n_places))
    statistics = np.empty((size, n_places if with_statistics else 0, N_STATISTICS), dtype=np.int32)
    first = 0
    for tile in tiles:
        stop = first + size * len(tile.slots)
        scores[:, tile.slots] = found.scores[first:stop].reshape(size, len(tile.slots))
        if with_statistics:
            statistics[:, tile.slots] = found.statistics[first:stop].reshape(size, len(tile.slots), N_STATISTICS)
        first = stop
    return Aligned(scores, statistics)


class _Tile(NamedTuple):
    """Some of an example's texts and some places among them."""

    columns: np.ndarray
    hyps: np.ndarray
    """Places in ``columns``."""
    refs: np.ndarray
    slots: np.ndarray
    """Where the places stand among all that are wanted."""


def _tiles(wanted: np.ndarray) -> Iterator[_Tile]:
    width = len(wanted)
    step = max(width, 1) if width <= 2 * _TILE else _TILE
    slots = np.cumsum(wanted).reshape(wanted.shape) - 1
    for top in range(0, width, step):
        for left in range(0, width, step):
            part = slice(top, top + step), slice(left, left + step)
            hyps, refs = np.nonzero(wanted[part])
            if len(hyps):
                columns, places = np.unique(np.concatenate([hyps + top, refs + left]), return_inverse=True)
                yield _Tile(columns, places[: len(hyps)], places[len(hyps) :], slots[part][hyps, refs])


def _bounds(counts: list[int], repeats: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.repeat(np.asarray(counts, dtype=np.int64), repeats))])


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0), *parts]).astype(dtype)


def align(table: TextTable, **groups: np.ndarray) -> Aligned:
    """Align the pairs of groups of texts (the fields of ``meteor_kernels.Groups``), on all cores.

    Raises :class:`InputError` for a pair with more matches than can be searched.
    """
    from harness.plugins.meteor.kernels import pairs as kernels  # numba

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


def _refuse(table: TextTable, groups: Any, pair: int) -> None:
    group = int(np.searchsorted(groups.pair_starts, pair, side="right")) - 1
    texts = groups.texts[groups.text_starts[group] :]
    hyp, ref = (len(table.word_ids(int(texts[place[pair]]))) for place in (groups.hyps, groups.refs))
    raise InputError(
        f"METEOR cannot align texts of {hyp} and {ref} words: more than 4 million word matches between them; expected sentences"
    )
