"""METEOR 1.5 for English over all cores: statistics, scores and matrices of pairs of
texts, equal to those of meteor-1.5.jar.

Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation
for Any Target Language", with the options ``-l en -norm`` of the COCO caption toolkit.
Scores are in [0, 1], higher is better, and **not symmetric** (recall has weight .85).
Texts are those of a :class:`~caption_kernels.MeteorTexts`; the COCO pipeline applies
the PTB tokeniser first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from caption_kernels import MeteorTexts, meteor_score
from caption_kernels.batches.threads import run_slices

Pair = tuple[str, Sequence[str]]
"""A hypothesis and its references."""

N_STATISTICS = 23
HYP_LENGTH, REF_LENGTH, HYP_FUNCTION, REF_FUNCTION = range(4)
CHUNKS = 20
HYP_MATCHED = 21
REF_MATCHED = 22

_PAIRS_PER_PART = 1 << 15
"""Hypotheses that are interned and aligned in one call."""
_WORK_PER_PAIR = 4
"""Cost of one alignment, in pairs of n-gram counts."""
_TILE = 48
"""Side of the tiles into which wide matrices are cut, in texts."""


class UnusableTexts(ValueError):
    """A hypothesis without references, or two texts with too many matches;
    the message is one line.
    """


class Aligned(NamedTuple):
    """Alignments of pairs of texts."""

    scores: np.ndarray
    """float64, one score per pair."""
    statistics: np.ndarray
    """int32, 23 columns; only for the pairs whose statistics were requested."""


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


def scores_of(statistics: np.ndarray) -> np.ndarray:
    """Return the scores of shape (n,) of the rows of statistics (n, 23)."""
    return meteor_score(np.ascontiguousarray(statistics, dtype=np.float64))


def corpus_score(statistics: np.ndarray) -> float:
    """Return the corpus score that COCO reports: the score of the sum of statistics of
    shape (n, 23), not the mean of segment scores.
    """
    return float(scores_of(summable(statistics).sum(axis=0, keepdims=True))[0])


def summable(statistics: np.ndarray) -> np.ndarray:
    """Return statistics of shape (..., 23) as they enter a corpus sum: a copy, float64.

    The chunk of a segment whose words all match in a single chunk is not counted, as in
    meteor-1.5.jar.

    >>> rows = np.array([[2, 2, 0, 0, *[2, 2, 0, 0], *[0] * 12, 1, 2, 2]])
    >>> float(summable(rows)[0, CHUNKS])
    0.0
    """
    out = np.array(statistics, dtype=np.float64)
    complete = (
        (out[..., HYP_MATCHED] == out[..., HYP_LENGTH])
        & (out[..., REF_MATCHED] == out[..., REF_LENGTH])
        & (out[..., CHUNKS] == 1.0)
    )
    out[..., CHUNKS][complete] = 0.0
    return out


def first_best(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the positions of shape (n,) of the first maximum in each run
    ``starts[i]:starts[i + 1]`` of scores (k,).

    ``starts`` (n + 1,) bounds the runs, none of which is empty.

    >>> first_best(np.array([0.5, 0.5, 0.25, 0.75]), np.array([0, 2, 4])).tolist()
    [0, 3]
    """
    counts = np.diff(starts)
    best = np.repeat(np.maximum.reduceat(scores, starts[:-1]), counts)
    return np.minimum.reduceat(
        np.where(scores == best, np.arange(len(scores)), len(scores)), starts[:-1]
    )


def best_statistics(texts: MeteorTexts, pairs: Sequence[Pair]) -> np.ndarray:
    """Return the statistics (n, 23), float64, of each raw hypothesis against the first
    of its references with the highest score.

    Parameters
    ----------
    texts : MeteorTexts
        Receives the texts.
    pairs : sequence of (str, sequence of str)
        n hypotheses, each with at least one reference.

    Raises
    ------
    UnusableTexts
        For a hypothesis without references, or for texts with more than 4 million word
        matches.
    """
    out = np.empty((len(pairs), N_STATISTICS))
    counts = np.array([len(references) for _, references in pairs], dtype=np.int64)

    if len(counts) and counts.min() == 0:
        raise UnusableTexts(
            f"pair {int(counts.argmin()) + 1}: a hypothesis needs at least one "
            "reference"
        )

    # Pairs of a part are aligned together, so that memory does not grow with their
    # number.
    for first in range(0, len(pairs), _PAIRS_PER_PART):
        block = slice(first, first + _PAIRS_PER_PART)
        ids = texts.intern(
            [
                text
                for hypothesis, references in pairs[block]
                for text in (hypothesis, *references)
            ]
        )
        out[block] = best_aligned(
            texts, ids, np.concatenate([[0], np.cumsum(counts[block])])
        ).statistics
    return out


def best_aligned(texts: MeteorTexts, ids: np.ndarray, starts: np.ndarray) -> Aligned:
    """Align each hypothesis with the first of its references that has the highest
    score.

    Parameters
    ----------
    texts : MeteorTexts
        Table of the texts.
    ids : (n + references,) int64
        Ids of each of n hypotheses, followed by its references.
    starts : (n + 1,) int64
        Bounds of the references of each hypothesis among all references.

    Returns
    -------
    Aligned
        Scores (n,) and statistics (n, 23).
    """
    refs = (
        np.arange(starts[-1], dtype=np.int64)
        - np.repeat(starts[:-1], np.diff(starts))
        + 1
    )
    groups = Groups(
        text_starts=starts + np.arange(len(starts)),
        texts=ids,
        pair_starts=starts,
        hyps=np.zeros(len(refs), dtype=np.int32),
        refs=refs.astype(np.int32),
        rows=np.arange(len(refs), dtype=np.int64),
    )
    aligned = align(texts, groups)
    best = first_best(aligned.scores, starts)
    return Aligned(aligned.scores[best], aligned.statistics[best])


def matrices(texts: MeteorTexts, text_ids: np.ndarray) -> np.ndarray:
    """Return the scores (B, N, N) of all pairs of the N texts of each of B examples;
    ``text_ids`` (B, N) are ids of ``texts``.
    """
    size, width = text_ids.shape
    aligned = align_pairs(
        texts, text_ids, np.ones((width, width), dtype=bool), with_statistics=False
    )
    return aligned.scores.reshape(size, width, width)


def align_pairs(
    texts: MeteorTexts,
    text_ids: np.ndarray,
    pairs: np.ndarray,
    *,
    with_statistics: bool,
) -> Aligned:
    """Align the same K pairs (hypothesis, reference) of every example.

    Parameters
    ----------
    texts : MeteorTexts
    text_ids : (B, N) int64
        Ids of the N texts of each example.
    pairs : (N, N) bool
        K true entries, rows the hypothesis. Many texts are compared tile by tile, which
        bounds memory.
    with_statistics : bool

    Returns
    -------
    Aligned
        Scores (B, K) in the order of ``np.nonzero(pairs)`` and statistics (B, K, 23),
        or (B, 0, 23) without statistics.

    Raises
    ------
    UnusableTexts
        For texts with more than 4 million word matches.
    """
    size = len(text_ids)
    tiles = list(_tiles(pairs))
    n_per_example = int(pairs.sum())
    n_pairs = size * n_per_example
    n_rows = n_per_example if with_statistics else 0

    # Each tile of each example is a group of the alignment.
    groups = Groups(
        text_starts=_bounds([len(tile.columns) for tile in tiles], size),
        texts=_concatenate(
            [text_ids[:, tile.columns].ravel() for tile in tiles], np.int64
        ),
        pair_starts=_bounds([len(tile.hyps) for tile in tiles], size),
        hyps=_concatenate([np.tile(tile.hyps, size) for tile in tiles], np.int32),
        refs=_concatenate([np.tile(tile.refs, size) for tile in tiles], np.int32),
        rows=np.arange(n_pairs, dtype=np.int64)
        if with_statistics
        else np.full(n_pairs, -1, dtype=np.int64),
    )
    aligned = align(texts, groups)

    if len(tiles) == 1:  # its pairs are in the order of np.nonzero
        return Aligned(
            aligned.scores.reshape(size, n_per_example),
            aligned.statistics.reshape(size, n_rows, N_STATISTICS),
        )

    # The groups of a tile follow one another: its scores go to its own slots.
    scores = np.empty((size, n_per_example))
    statistics = np.empty((size, n_rows, N_STATISTICS), dtype=np.int32)
    first = 0
    for tile in tiles:
        stop = first + size * len(tile.slots)
        scores[:, tile.slots] = aligned.scores[first:stop].reshape(
            size, len(tile.slots)
        )
        if with_statistics:
            statistics[:, tile.slots] = aligned.statistics[first:stop].reshape(
                size, len(tile.slots), N_STATISTICS
            )
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
            window = slice(top, top + step), slice(left, left + step)
            hyps, refs = np.nonzero(pairs[window])
            if len(hyps):
                columns, positions = np.unique(
                    np.concatenate([hyps + top, refs + left]), return_inverse=True
                )
                yield _Tile(
                    columns,
                    positions[: len(hyps)],
                    positions[len(hyps) :],
                    slots[window][hyps, refs],
                )


def _bounds(counts: list[int], repeats: int) -> np.ndarray:
    return np.concatenate(
        [[0], np.cumsum(np.repeat(np.asarray(counts, dtype=np.int64), repeats))]
    )


def _concatenate(arrays: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=dtype), *arrays]).astype(dtype, copy=False)


def align(texts: MeteorTexts, groups: Groups) -> Aligned:
    """Align the pairs of groups of texts on all cores.

    Scores (pairs,) are in the order of the pairs, statistics (rows, 23) in that of
    ``groups.rows``. Raises :class:`UnusableTexts` for texts with more than 4 million
    word matches.
    """
    scores = np.zeros(len(groups.hyps))
    statistics = np.zeros(
        (int(groups.rows.max(initial=-1)) + 1, N_STATISTICS), dtype=np.int32
    )

    def work(start: int, stop: int) -> None:
        pair = texts.align(*groups, start, stop, scores, statistics)
        if pair >= 0:
            raise _too_many_matches(texts, groups, pair)

    n_groups = len(groups.text_starts) - 1
    run_slices(
        work, n_groups, pairs=_WORK_PER_PAIR * len(groups.hyps) // max(n_groups, 1)
    )
    return Aligned(scores, statistics)


def _too_many_matches(texts: MeteorTexts, groups: Groups, pair: int) -> UnusableTexts:
    group = int(np.searchsorted(groups.pair_starts, pair, side="right")) - 1
    members = groups.texts[groups.text_starts[group] :]
    hyp, ref = (
        texts.n_words(int(members[member_of_pair[pair]]))
        for member_of_pair in (groups.hyps, groups.refs)
    )
    return UnusableTexts(
        f"METEOR cannot align texts of {hyp} and {ref} words: "
        "more than 4 million word matches between them; expected sentences"
    )
