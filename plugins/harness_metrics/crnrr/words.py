"""Words and n-grams of captions as arrays of integers, and CR,
NRR and CND of weighted sentences or examples.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np

from harness.contracts import Batch, CorpusMetric, Features, Objects
from harness.errors import require
from harness_metrics.crnrr.ngrams import CrNrr, Sums, from_sums
from harness_metrics.tokenisers.tokens import tokens_of

# --------------------------------------------------------------------------- counting
# Words as integers, and n-grams as sortable keys.


Tokens = Sequence[str]


class Vocabulary:
    """Words as integers in order of first appearance;
    the corpora of one comparison share it.
    """

    def __init__(self) -> None:
        self.index: defaultdict[str, int] = defaultdict(count().__next__)

    def ids(self, sentences: Sequence[Tokens], total: int) -> np.ndarray:
        """Return the ids of all words, int64 of shape ``(total,)``;
        new words are added.
        """
        return np.fromiter(
            map(self.index.__getitem__, chain.from_iterable(sentences)), np.int64, total
        )


def pack(words: Sequence[np.ndarray]) -> np.ndarray:
    """Return the keys of n-grams, uint64 ``(columns, K)``, with two words of 32 bits
    per column, the first word in the highest bits.

    ``words`` are n arrays ``(K,)`` of word ids, by position in the n-gram.
    """
    columns: list[np.ndarray] = []
    for start in range(0, len(words), 2):
        key = words[start].astype(np.uint64)
        for word in words[start + 1 : start + 2]:
            key = (key << np.uint64(32)) | word.astype(np.uint64)
        columns.append(key)
    return np.stack(columns)


def sort_order(keys: np.ndarray) -> np.ndarray:
    """Return the indices ``(K,)`` that sort keys ``(columns, K)``;
    equal keys keep their order.
    """
    return (
        np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    )


def changes(keys: np.ndarray) -> np.ndarray:
    """Return ``(K,)`` True where a key of sorted keys ``(columns, K)`` differs from its
    predecessor.
    """
    new = np.ones(keys.shape[1], dtype=bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return new


def gram_ids(words: Sequence[np.ndarray]) -> np.ndarray:
    """Return the ranks of n-grams in sorted order, int64 ``(K,)``, from n arrays
    ``(K,)`` of word ids, by position in the n-gram.
    """
    keys = pack(words)
    order = sort_order(keys)
    ids = np.empty(keys.shape[1], dtype=np.int64)
    ids[order] = np.cumsum(changes(keys[:, order])) - 1
    return ids


# --------------------------------------------------------------------------- words
# CR, NRR and CND of weighted sentences or examples: the counts of a unit (a sentence,
# or the sentences of an example) are a column of a sparse matrix; its product with the
# weights is the counts of every sample.

_BLOCK = 1 << 24
"""Number of matrix entries that are computed together."""


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
    gram = gram_ids(
        [
            np.concatenate([side.ids[at + k] for side, at in zip(sides, side_starts)])
            for k in range(n)
        ]
    )
    split = np.split(gram, np.cumsum([len(at) for at in side_starts])[:-1])
    return [
        Grams(ids, side.sentence[at], side.unit[side.sentence[at]])
        for ids, side, at in zip(split, sides, side_starts)
    ]


def weigh_units(
    q: Grams, p: Grams, n: int, weights_q: np.ndarray, weights_p: np.ndarray
) -> list[CrNrr]:
    """Return one result per row of weights;
    a unit of weight 2 counts as two equal units.

    Parameters
    ----------
    q, p : Grams
        n-gram tokens of candidates and references.
    n : int
        Order.
    weights_q, weights_p : ndarray
        Integer weights, ``(W, units of q)`` and ``(W, units of p)``.

    Raises
    ------
    ValueError
        For weights that are not whole numbers.
    """
    if any((weights != np.floor(weights)).any() for weights in (weights_q, weights_p)):
        raise ValueError("weights of units must be whole numbers")
    size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
    matrices = [
        sparse_counts(side.gram, side.unit, (size, weights.shape[1]))
        for side, weights in ((q, weights_q), (p, weights_p))
    ]
    totals_q, within, squares = per_unit(q, weights_q.shape[1])
    totals_p = np.bincount(p.unit, minlength=weights_p.shape[1])
    out: list[CrNrr] = []
    step = max(1, _BLOCK // max(1, size))
    for start in range(0, len(weights_q), step):
        wq, wp = (
            w[start : start + step].astype(np.float64) for w in (weights_q, weights_p)
        )
        # (grams, W) counts: whole numbers, exact below 2**53
        cq = matrices[0] @ wq.T
        cp = matrices[1] @ wp.T
        products = [(a * b).sum(axis=0) for a, b in ((cq, cq), (cp, cp), (cq, cp))]
        sums = [wq @ totals_q, wp @ totals_p, wq @ within, wq @ squares]
        for qq, pp, qp, tq, tp, within_sentences, square in zip(
            *(v.astype(int).tolist() for v in (*products, *sums))
        ):
            out.append(from_sums(n, Sums(tq, tp, qq, pp, qp, within_sentences, square)))
    return out


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
    squares = (
        np.bincount(side.unit[first], sizes * sizes, units)
        if len(sentences)
        else np.zeros(units)
    )
    return np.bincount(side.unit, minlength=units), within, squares


# --------------------------------------------------------------------------- words of captions
# Captions as words: what metrics collect that count n-grams over a whole corpus.


class CaptionWords(CorpusMetric):
    """Base class of metrics of the words of all captions;
    a subclass sets ``tokenizer`` and defines ``number``.

    The object of an example has the 63-bit hashes of its words, caption by caption with
    the candidates first (``words``), the number of words of each caption (``lengths``)
    and the number of candidates (``candidates``). Numbers are exact unless two words of
    the corpus have the same hash, which happens in one of 10**9 corpora with 10**5
    distinct words.
    """

    tokenizer = "ptb"
    """Name of the tokenizer."""

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the words of the captions of each example (see the class)."""
        return [
            words_object(features, ids, batch.n, self.tokenizer)
            for ids in batch.text_ids
        ]


def words_object(
    features: Features, ids: np.ndarray, n: int, tokenizer: str
) -> dict[str, np.ndarray]:
    """Return the words of the texts of one example, the ``n`` candidates first, as an
    object of :class:`CaptionWords`.
    """

    def compute(texts: list[str]) -> list[np.ndarray]:
        tokenized = tokens_of(features, features.intern(texts), tokenizer)
        return [
            np.array([word_hash(word) for word in text.split()], dtype=np.int64)
            for text in tokenized
        ]

    words = features.per_text(("word-hashes", tokenizer), ids, compute)
    return {
        "words": np.concatenate(words),
        "lengths": np.array(list(map(len, words))),
        "candidates": np.array([n]),
    }


def word_hash(word: str) -> int:
    """Return a hash of a word, an integer from 0 to 2**63 - 1, equal in every process.

    >>> word_hash("dog") == word_hash("dog"), 0 <= word_hash("dog") < 2**63
    (True, True)
    """
    digest = hashlib.blake2b(
        word.encode("utf-8", "surrogatepass"), digest_size=8
    ).digest()
    return int.from_bytes(digest, "big") >> 1


def sides_of(objects: Objects) -> tuple[Words, Words]:
    """Return the words of the candidates and of the references of B examples.

    Word ids are common to both sides. Sentences are numbered from 0 on each side; the
    unit of a sentence is its example.
    """
    ids = np.unique(objects.values("words"), return_inverse=True)[1]
    lengths = objects.values("lengths")
    example = objects.owners("lengths")
    position = np.arange(len(lengths)) - objects.starts("lengths")[example]
    is_candidate = position < objects.values("candidates")[example]
    sides: list[Words] = []
    for of_side in (is_candidate, ~is_candidate):
        number = np.cumsum(of_side) - 1
        of_word = np.repeat(of_side, lengths)
        sides.append(
            Words(ids[of_word], np.repeat(number, lengths)[of_word], example[of_side])
        )
    return sides[0], sides[1]


def sentence_lengths(words: Words) -> np.ndarray:
    """Return the number of words of each sentence, shape (S,)."""
    return np.bincount(words.sentence, minlength=len(words.unit))
