"""The words and n-grams of one corpus as arrays, by sentence and by weighted unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import require
from harness_metrics.words.keys import Tokens, Vocabulary, changes, gram_ids


@dataclass(frozen=True, eq=False)
class Grams:
    """The n-gram tokens of one corpus, all arrays of shape ``(T,)``."""

    gram: np.ndarray
    """Id of the n-gram; the corpora of one comparison share the ids."""
    sentence: np.ndarray
    """Number of the sentence."""
    unit: np.ndarray
    """Number of the weighted unit: the sentence, or its example."""


@dataclass(frozen=True, eq=False)
class Words:
    """The words of one corpus."""

    ids: np.ndarray
    """``(T,)`` word ids."""
    sentence: np.ndarray
    """``(T,)`` ascending sentence numbers."""
    unit: np.ndarray
    """``(S,)`` number of the weighted unit of each sentence."""


def words_of(sentences: Sequence[Tokens], vocabulary: Vocabulary) -> Words:
    """Return the words of sentences, each sentence a unit;
    new words are added to the vocabulary.
    """
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    ids = vocabulary.ids(sentences, int(lengths.sum()))
    return Words(
        ids, np.repeat(np.arange(len(sentences)), lengths), np.arange(len(sentences))
    )


def grams_of(sides: Sequence[Words], n: int) -> list[Grams]:
    """Return the n-gram tokens of several corpora with common ids."""
    side_starts: list[np.ndarray] = []
    for side in sides:
        # An n-gram starts where n words of its sentence are left.
        ends = np.searchsorted(side.sentence, side.sentence, side="right")
        starts = np.flatnonzero(ends - np.arange(len(ends)) >= n)
        side_starts.append(starts)

    # Ids of both corpora together, so that equal n-grams have equal ids on both sides.
    words_by_position: list[np.ndarray] = []
    for k in range(n):
        words = [side.ids[at + k] for side, at in zip(sides, side_starts)]
        words_by_position.append(np.concatenate(words))
    gram = gram_ids(words_by_position)

    split = np.split(gram, np.cumsum([len(at) for at in side_starts])[:-1])
    return [
        Grams(ids, side.sentence[at], side.unit[side.sentence[at]])
        for ids, side, at in zip(split, sides, side_starts)
    ]


def sparse_counts(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    """Return the sparse matrix of a shape that counts the pairs of a row ``(T,)`` and a
    column ``(T,)``.
    """
    sparse = require("scipy.sparse", needed_by="counts of n-grams")
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def per_unit(side: Grams, units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays of shape ``(units,)``: n-gram tokens, squared counts within
    sentences, squared sentence sizes, summed.
    """
    order = np.lexsort((side.gram, side.sentence))
    # Sorted by sentence and then n-gram, runs of equal pairs are the counts within a
    # sentence.
    pair = np.stack([side.sentence[order], side.gram[order]])
    starts = np.flatnonzero(changes(pair))
    counts = np.diff(starts, append=len(order))
    within = np.bincount(side.unit[order][starts], counts * counts, units)

    sentences, first, sizes = np.unique(
        side.sentence, return_index=True, return_counts=True
    )
    squares = np.zeros(units)
    if len(sentences):
        squares = np.bincount(side.unit[first], sizes * sizes, units)

    return np.bincount(side.unit, minlength=units), within, squares


def sentence_lengths(words: Words) -> np.ndarray:
    """Return the number of words of each sentence, shape (S,)."""
    return np.bincount(words.sentence, minlength=len(words.unit))
