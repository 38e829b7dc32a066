"""METEOR 1.5 for English without Java: statistics, scores and matrices of all pairs, equal to those of meteor-1.5.jar.

Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target Language", with the options
``-l en -norm`` of the COCO caption toolkit. Scores are in [0, 1], higher is better, and **not symmetric** (recall has weight .85). The
functions of this module take raw text; the COCO pipeline applies the PTB tokeniser first, see
:class:`harness.plugins.meteor.metric.Meteor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.errors import InputError, require
from harness.files.announcements import announced
from harness.plugins.compiled.cache_keys import imported
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.meteor.kernels import compile_ahead
from harness.plugins.meteor.lexicon.disk_cache import installed_lexicon
from harness.plugins.meteor.lexicon.sources import find_sources
from harness.plugins.meteor.score import N_STATISTICS, summable
from harness.plugins.meteor.texts import TextTable, WordTable

if TYPE_CHECKING:
    from harness.plugins.meteor.kernels.pairs import Groups

Pair = tuple[str, Sequence[str]]
"""A hypothesis and its references."""

_PAIRS_PER_PART = 1 << 15
"""Hypotheses that are interned and aligned in one call."""
_WORK_PER_PAIR = 16
"""Cost of one alignment, in units of one n-gram pair."""
_TILE = 48
"""Side of the tiles into which wide matrices are cut, in texts."""
_first_use = Lock()


class Aligned(NamedTuple):
    """Alignments of pairs of texts."""

    scores: np.ndarray
    """float64, one score per pair."""
    statistics: np.ndarray
    """int32, 23 columns; only for the pairs whose statistics were requested."""


class PreparedTexts(TextTable):
    """Table of prepared texts of a run, with their alignment."""

    def __init__(self) -> None:
        super().__init__(_words())

    def align_pairs(self, text_ids: np.ndarray, pairs: np.ndarray, *, with_statistics: bool) -> Aligned:
        """Align the same pairs of texts of every example (shape (B, N)); see :func:`align_pairs`."""
        return align_pairs(self, text_ids, pairs, with_statistics=with_statistics)


def new_table() -> TextTable:
    """Return an empty table of prepared texts; all tables of the process share their words."""
    return TextTable(_words())


def _words() -> WordTable:
    """Return the word table of this process, created by the first caller."""
    with _first_use:
        return _new_words()


@cache
def _new_words() -> WordTable:
    require("numba", needed_by="METEOR")
    find_sources()  # raises before the slow work starts
    compile_ahead.start()
    compiling = announced("METEOR: compiling its kernels, once on this machine")
    with compiling if compile_ahead.is_needed() else nullcontext(), imported(), ThreadPoolExecutor(1) as pool:
        lexicon = pool.submit(installed_lexicon)
        compile_ahead.load_text_kernels()
        compile_ahead.wait()
        compile_ahead.load_alignment()
        compile_ahead.write_marker()
        return WordTable(lexicon.result())


def scores_of(statistics: np.ndarray) -> np.ndarray:
    """Return the scores of shape (n,) of the rows of statistics (n, 23)."""
    from harness.plugins.meteor.kernels.pairs import score_rows  # numba

    return score_rows(np.ascontiguousarray(statistics, dtype=np.float64))


# ---------------------------------------------------------------------- raw text
def statistics(pairs: Iterable[Pair]) -> np.ndarray:
    """Return the statistics, shape (n, 23), of each hypothesis against the first of its references with the highest score.

    Parameters
    ----------
    pairs : iterable of (str, sequence of str)
        n hypotheses, each with its references, as raw text.

    Returns
    -------
    (n, 23) float64
        The answers of meteor-1.5.jar to SCORE: words of hypothesis and reference; function words of both; for each of the modules exact,
        stem, synonym and paraphrase the matched content words of both and the matched function words of both; chunks; matched words
        of both.

    Raises
    ------
    InputError
        For a hypothesis without references, or for texts with more than 4 million word matches.
    """
    items: list[Pair] = [(hypothesis, list(references)) for hypothesis, references in pairs]
    out = np.empty((len(items), N_STATISTICS))
    table = new_table()
    for first in range(0, len(items), _PAIRS_PER_PART):
        part = items[first : first + _PAIRS_PER_PART]
        out[first : first + len(part)] = _best_statistics(table, part, first)
    return out


def scores(pairs: Iterable[Pair]) -> np.ndarray:
    """Return segment scores of shape (n,) in [0, 1], each the highest over the references; see :func:`statistics`.

    >>> scores([("a dog runs", ["a dog runs", "a cat"])]).tolist()
    [1.0]
    """
    return scores_of(statistics(pairs))


def corpus_score(statistics: np.ndarray) -> float:
    """Return the corpus score that COCO reports: the score of the sum of statistics of shape (n, 23), not the mean of segment scores."""
    return float(scores_of(summable(statistics).sum(axis=0, keepdims=True))[0])


def matrix(texts: Sequence[str]) -> np.ndarray:
    """Return the scores (T, T) of all pairs of T raw texts: rows the hypothesis, columns the reference.

    >>> matrix(["a dog runs", "a dog is running"]).shape
    (2, 2)
    """
    table = new_table()
    return matrices(table, table.intern(texts)[None])[0]


def _best_statistics(table: TextTable, pairs: list[Pair], offset: int) -> np.ndarray:
    """Return the statistics (n, 23) of pairs ``offset`` and on of a call, each of its first best reference."""
    counts = np.array([len(references) for _, references in pairs], dtype=np.int64)
    if counts.min() == 0:
        raise InputError("a hypothesis needs at least one reference", f"pair {offset + int(counts.argmin()) + 1}")
    ids = table.intern(text for hypothesis, references in pairs for text in (hypothesis, *references))
    starts = np.concatenate([[0], np.cumsum(counts)])
    refs = np.arange(starts[-1], dtype=np.int64) - np.repeat(starts[:-1], counts) + 1
    aligned = align(
        table,
        text_starts=starts + np.arange(len(starts)),
        texts=ids,
        pair_starts=starts,
        hyps=np.zeros(len(refs), dtype=np.int32),
        refs=refs.astype(np.int32),
        rows=np.arange(len(refs), dtype=np.int64),
    )
    return aligned.statistics[first_best(aligned.scores, starts)].astype(np.float64)


def first_best(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the positions of shape (n,) of the first maximum in each run ``starts[i]:starts[i + 1]`` of scores (k,).

    ``starts`` (n + 1,) bounds the runs, none of which is empty.

    >>> first_best(np.array([0.5, 0.5, 0.25, 0.75]), np.array([0, 2, 4])).tolist()
    [0, 3]
    """
    counts = np.diff(starts)
    best = np.repeat(np.maximum.reduceat(scores, starts[:-1]), counts)
    return np.minimum.reduceat(np.where(scores == best, np.arange(len(scores)), len(scores)), starts[:-1])


# ---------------------------------------------------------------------- prepared texts
def matrices(table: TextTable, text_ids: np.ndarray) -> np.ndarray:
    """Return the scores (B, N, N) of all pairs of the N texts of each of B examples; ``text_ids`` (B, N) are ids of ``table``."""
    size, width = text_ids.shape
    aligned = align_pairs(table, text_ids, np.ones((width, width), dtype=bool), with_statistics=False)
    return aligned.scores.reshape(size, width, width)


def align_pairs(table: TextTable, text_ids: np.ndarray, pairs: np.ndarray, *, with_statistics: bool) -> Aligned:
    """Align the same K pairs (hypothesis, reference) of every example.

    Parameters
    ----------
    table : TextTable
    text_ids : (B, N) int64
        Ids of the N texts of each example.
    pairs : (N, N) bool
        K true entries, rows the hypothesis. Many texts are compared tile by tile, which bounds memory.
    with_statistics : bool

    Returns
    -------
    Aligned
        Scores (B, K) in the order of ``np.nonzero(pairs)`` and statistics (B, K, 23), or (B, 0, 23) without statistics.

    Raises
    ------
    InputError
        For texts with more than 4 million word matches.
    """
    size, tiles, n_per_example = len(text_ids), list(_tiles(pairs)), int(pairs.sum())
    n_pairs, n_rows = size * n_per_example, n_per_example if with_statistics else 0
    aligned = align(
        table,
        text_starts=_bounds([len(tile.columns) for tile in tiles], size),
        texts=_concatenated([text_ids[:, tile.columns].ravel() for tile in tiles], np.int64),
        pair_starts=_bounds([len(tile.hyps) for tile in tiles], size),
        hyps=_concatenated([np.tile(tile.hyps, size) for tile in tiles], np.int32),
        refs=_concatenated([np.tile(tile.refs, size) for tile in tiles], np.int32),
        rows=np.arange(n_pairs, dtype=np.int64) if with_statistics else np.full(n_pairs, -1, dtype=np.int64),
    )
    if len(tiles) == 1:  # its pairs are in the order of np.nonzero
        return Aligned(
            aligned.scores.reshape(size, n_per_example), aligned.statistics.reshape(size, n_rows, N_STATISTICS)
        )
    scores = np.empty((size, n_per_example))
    statistics = np.empty((size, n_rows, N_STATISTICS), dtype=np.int32)
    first = 0
    for tile in tiles:
        stop = first + size * len(tile.slots)
        scores[:, tile.slots] = aligned.scores[first:stop].reshape(size, len(tile.slots))
        if with_statistics:
            statistics[:, tile.slots] = aligned.statistics[first:stop].reshape(size, len(tile.slots), N_STATISTICS)
        first = stop
    return Aligned(scores, statistics)


class _Tile(NamedTuple):
    """A part of the pairs of an example: c texts and k pairs among them."""

    columns: np.ndarray
    """(c,) positions of the texts in the example."""
    hyps: np.ndarray
    """(k,) indices of the hypotheses in ``columns``."""
    refs: np.ndarray
    """(k,) indices of the references in ``columns``."""
    slots: np.ndarray
    """(k,) positions of the pairs in ``np.nonzero`` order of all pairs."""


def _tiles(pairs: np.ndarray) -> Iterator[_Tile]:
    width = len(pairs)
    step = max(width, 1) if width <= 2 * _TILE else _TILE
    slots = np.cumsum(pairs).reshape(pairs.shape) - 1
    for top in range(0, width, step):
        for left in range(0, width, step):
            part = slice(top, top + step), slice(left, left + step)
            hyps, refs = np.nonzero(pairs[part])
            if len(hyps):
                columns, places = np.unique(np.concatenate([hyps + top, refs + left]), return_inverse=True)
                yield _Tile(columns, places[: len(hyps)], places[len(hyps) :], slots[part][hyps, refs])


def _bounds(counts: list[int], repeats: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.repeat(np.asarray(counts, dtype=np.int64), repeats))])


def _concatenated(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype, copy=False)


def align(table: TextTable, **groups: np.ndarray) -> Aligned:
    """Align the pairs of groups of texts on all cores; scores have shape (pairs,).

    The keywords are the fields of :class:`harness.plugins.meteor.kernels.pairs.Groups`. Scores (pairs,) are in their order, statistics
    (rows, 23) in the order of ``rows``. Raises :class:`InputError` for texts with more than 4 million word matches.
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
            raise _too_many_matches(table, packed, pair)

    n_groups = len(packed.text_starts) - 1
    run_slices(work, n_groups, pairs=_WORK_PER_PAIR * len(packed.hyps) // max(n_groups, 1))
    return Aligned(scores, statistics)


def _too_many_matches(table: TextTable, groups: Groups, pair: int) -> InputError:
    group = int(np.searchsorted(groups.pair_starts, pair, side="right")) - 1
    texts = groups.texts[groups.text_starts[group] :]
    hyp, ref = (len(table.word_ids(int(texts[place[pair]]))) for place in (groups.hyps, groups.refs))
    return InputError(
        f"METEOR cannot align texts of {hyp} and {ref} words: more than 4 million word matches between them; expected sentences"
    )
