"""BLEU-1 to BLEU-4 of the COCO caption toolkit: the readable version.

Papineni, Roukos, Ward & Zhu (2002), "BLEU: a Method for Automatic Evaluation of Machine
Translation", section 2, with the toolkit's constants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from caption_kernels_reference import math
from caption_kernels_reference.text_index import ORDERS, TextIndex, count_ngrams

TINY = 1e-15
SMALL = 1e-9
"""Constants that the toolkit adds to matches and lengths, and to what they are divided
by, so that no product vanishes.
"""
Words = Sequence[str]


class BleuCounts(NamedTuple):
    """Counts of one hypothesis against its references."""

    matches: list[int]
    """Matches of each order, clipped at the largest count in any reference."""
    guesses: list[int]
    """Number of n-grams of each order in the hypothesis."""
    length: int
    """Words of the hypothesis."""
    reference_length: int
    """Words of the reference that is closest in length, the shorter on ties."""


def count_matches(hyp: Words, refs: Sequence[Words]) -> BleuCounts:
    """Return the counts of a hypothesis against its references.

    >>> count_matches(
    ...     "a dog runs".split(), ["a dog".split(), "the dog runs fast".split()]
    ... ).matches
    [3, 2, 0, 0]
    """
    return BleuCounts(
        clip_counts(count_ngrams(hyp), [count_ngrams(ref) for ref in refs]),
        [max(0, len(hyp) - k) for k in range(ORDERS)],
        len(hyp),
        min((abs(len(ref) - len(hyp)), len(ref)) for ref in refs)[1],
    )


def clip_counts(
    hyp: list[Counter[tuple[str, ...]]], refs: list[list[Counter[tuple[str, ...]]]]
) -> list[int]:
    """Return the matches of each order: counts of the hypothesis,
    at most the largest count in any reference.
    """
    return [
        sum(
            min(count, max((ref[k][gram] for ref in refs), default=0))
            for gram, count in hyp[k].items()
        )
        for k in range(ORDERS)
    ]


def score(
    matches: Sequence[float],
    guesses: Sequence[float],
    length: float,
    reference_length: float,
    n: int,
) -> float:
    """Return BLEU-n of counts, in [0, 1]: the geometric mean of the precisions times
    the brevity penalty.
    """
    product = (matches[0] + TINY) / (guesses[0] + SMALL)
    for k in range(1, n):
        product *= (matches[k] + TINY) / (guesses[k] + SMALL)
    ratio = (length + TINY) / (reference_length + SMALL)
    return float(math.power(product, 1.0 / n)) * (
        float(math.exp(1 - 1 / ratio)) if ratio < 1 else 1.0
    )


def sentence_bleu(counts: BleuCounts, n: int = ORDERS) -> float:
    """Return the toolkit's BLEU-n of one sentence, in [0, 1].

    >>> round(
    ...     sentence_bleu(count_matches("a dog".split(), ["a dog runs".split()]), 2), 6
    ... )  # exp(1 - 3 / 2)
    0.606531
    """
    return score(
        counts.matches, counts.guesses, counts.length, counts.reference_length, n
    )


def clip_pairs(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the matches (B, n, m, 4) of gram rows ``hyp`` (B, n) clipped at each
    single reference of ``ref`` (B, m), int64.
    """
    out = np.zeros((*hyp.shape, ref.shape[1], ORDERS), dtype=np.int64)
    for b, i, j in np.ndindex(*out.shape[:3]):
        out[b, i, j] = clip_counts(
            index.counts(int(hyp[b, i])), [index.counts(int(ref[b, j]))]
        )
    return out


def clip_all(index: TextIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the matches (B, n, 4) of gram rows ``hyp`` (B, n) clipped at all
    references of ``ref`` (B, m) together, int64.
    """
    out = np.zeros((*hyp.shape, ORDERS), dtype=np.int64)
    for b, i in np.ndindex(*hyp.shape):
        out[b, i] = clip_counts(
            index.counts(int(hyp[b, i])), [index.counts(row) for row in ref[b].tolist()]
        )
    return out


def bleu_scores(
    matches: np.ndarray,
    guesses: np.ndarray,
    lengths: np.ndarray,
    reference_lengths: np.ndarray,
    order: int,
) -> np.ndarray:
    """Return BLEU (S,) of matches and guesses (S, 4), lengths (S,) and closest
    reference lengths (S,), all float64.
    """
    if not 1 <= order <= ORDERS:
        raise ValueError("BLEU: an argument is out of its range")
    rows = zip(
        matches.tolist(), guesses.tolist(), lengths.tolist(), reference_lengths.tolist()
    )
    return np.array([score(*row, order) for row in rows], dtype=np.float64)


def bleu_relabel(
    index: TextIndex, rows: np.ndarray, labels: np.ndarray, order: int
) -> np.ndarray:
    """Return mean sentence BLEU (B, P) of gram rows (B, N) under relabelings (P, N),
    nonzero for a candidate.
    """
    out = np.zeros((len(rows), len(labels)))
    for b, p in np.ndindex(*out.shape):
        words = [index.words(row) for row in rows[b].tolist()]
        candidates = [text for text, label in zip(words, labels[p]) if label]
        references = [text for text, label in zip(words, labels[p]) if not label]
        total = 0.0
        for candidate in candidates:
            total += sentence_bleu(count_matches(candidate, references), order)
        out[b, p] = total / len(candidates)
    return out
