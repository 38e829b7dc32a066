"""Runs: distinct n-grams as sorted keys with their counts, merged in memory or read from disk by ranges of keys.

The n words of an n-gram are packed into 64-bit columns, 16 bits per word, or 32 bits when the vocabulary has more than 2**16
words. The first word has the highest bits, so that runs stay sorted when the width changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class NgramRun:
    """Distinct n-grams in ascending order with their counts."""

    keys: np.ndarray
    """``(columns, K)`` uint64, the first column the most significant."""
    counts: np.ndarray
    """``(K,)`` int64."""

    @property
    def on_disk(self) -> bool:
        """True for a run that is read from disk piece by piece."""
        return isinstance(self.counts, np.memmap)


def pack(words: Sequence[np.ndarray], bits: int) -> np.ndarray:
    """Return the keys of n-grams, uint64 ``(columns, K)``; the first word has the highest bits.

    Parameters
    ----------
    words : sequence of ndarray
        n arrays ``(K,)`` of word ids, by position in the n-gram.
    bits : int
        Bits per word; a column holds ``64 // bits`` words.
    """
    per = 64 // bits
    columns: list[np.ndarray] = []
    for start in range(0, len(words), per):
        key = words[start].astype(np.uint64)
        for word in words[start + 1 : start + per]:
            key = (key << np.uint64(bits)) | word.astype(np.uint64)
        columns.append(key)
    return np.stack(columns)


def unpack(keys: np.ndarray, order: int, bits: int) -> list[np.ndarray]:
    """Return the n arrays ``(K,)`` of word ids of keys ``(columns, K)``, the inverse of :func:`pack`."""
    per, mask = 64 // bits, np.uint64((1 << bits) - 1)
    words: list[np.ndarray] = []
    for start in range(0, order, per):
        size = min(per, order - start)
        column = np.asarray(keys[start // per])
        words.extend(((column >> np.uint64(bits * (size - 1 - k))) & mask).astype(np.int64) for k in range(size))
    return words


def sort_order(keys: np.ndarray) -> np.ndarray:
    """Return the indices ``(K,)`` that sort keys ``(columns, K)``; equal keys keep their order."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def changes(keys: np.ndarray) -> np.ndarray:
    """Return ``(K,)`` True where a key of sorted keys ``(columns, K)`` differs from its predecessor."""
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return new


def count_keys(keys: np.ndarray) -> NgramRun:
    """Return the run of n-gram tokens ``(columns, T)``."""
    ordered = np.sort(keys, axis=1) if len(keys) == 1 else keys[:, sort_order(keys)]
    starts = np.flatnonzero(changes(ordered))
    return NgramRun(ordered[:, starts], np.diff(starts, append=keys.shape[1]))


def count_keys_by_sentence(keys: np.ndarray, sentence: np.ndarray) -> tuple[NgramRun, int]:
    """Return the run of n-gram tokens and the sum of squared counts within sentences.

    ``sentence`` ``(T,)`` is the ascending number of the sentence of each token; sentences have any length.
    """
    order = sort_order(keys)
    keys, sentence = keys[:, order], sentence[order]
    new = changes(keys)
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=keys.shape[1])
    # The same sorted keys serve twice: cut where the key changes for the corpus, and also where the sentence changes
    # for the counts within sentences.
    new[1:] |= sentence[1:] != sentence[:-1]  # equal keys are in order of sentences, as the sort is stable
    sentence_counts = np.diff(np.flatnonzero(new), append=keys.shape[1])
    return NgramRun(keys[:, starts], counts), int((sentence_counts * sentence_counts).sum())


def merge_runs(runs: Sequence[NgramRun]) -> NgramRun:
    """Return one run of the distinct n-grams of several runs, their counts added."""
    keys = np.concatenate([run.keys for run in runs], axis=1)
    counts = np.concatenate([run.counts for run in runs])
    order = sort_order(keys)
    keys = keys[:, order]
    starts = np.flatnonzero(changes(keys))
    return NgramRun(keys[:, starts], np.add.reduceat(counts[order], starts) if len(starts) else counts)


def partitions(sides: Sequence[Sequence[NgramRun]], size: int = 1 << 22) -> Iterator[list[NgramRun]]:
    """Yield one merged run per side for each key range of about ``size`` n-grams.

    The ranges cover all n-grams and do not overlap, so that runs on disk are read piece by piece.

    Parameters
    ----------
    sides : sequence of sequences of NgramRun
        Runs of each corpus, with keys of one vocabulary and width.
    size : int, default 2**22
        Approximate number of n-grams per range, all sides together.
    """
    runs = [run for side in sides for run in side if len(run.counts)]
    pieces = max(1, -(-sum(len(run.counts) for run in runs) // size))
    # Quantiles of the largest run bound the ranges: n-grams of one language are distributed alike in all runs, so
    # that the others are cut into similar sizes. Ranges of the first column alone keep equal keys together.
    largest = max(runs, key=lambda run: len(run.counts)).keys[0] if runs else np.empty(0, np.uint64)
    at = np.arange(1, pieces) * len(largest) // pieces
    edges = np.unique(np.asarray(largest[at])).tolist()
    for low, high in zip([None, *edges], [*edges, None]):
        yield [_merge_any([_between(run, low, high) for run in side]) for side in sides]


def _merge_any(runs: Sequence[NgramRun]) -> NgramRun:
    """Return the merged run of any number of runs; empty for none."""
    return merge_runs(runs) if len(runs) > 1 else runs[0] if runs else _EMPTY


_EMPTY = NgramRun(np.empty((1, 0), np.uint64), np.empty(0, np.int64))


def _between(run: NgramRun, low: int | None, high: int | None) -> NgramRun:
    """Return the part of a run with first columns in ``[low, high)``; None is no bound."""
    first = run.keys[0]
    # Runs are sorted by their first column first, so that a range is a slice, and only that slice of a memory map is
    # read.
    start = 0 if low is None else int(np.searchsorted(first, np.uint64(low)))
    stop = len(first) if high is None else int(np.searchsorted(first, np.uint64(high)))
    return NgramRun(np.asarray(run.keys[:, start:stop]), np.asarray(run.counts[start:stop]))
