"""Quality and diversity of a corpus against references, for the pairs CR-NRR and
BLEU-NSBLEU.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness_metrics.diversity.corpus_bleu import (
    corpus_bleu_of_words,
    self_bleu_of_words,
)
from harness_metrics.words.grams import Words, grams_of, sentence_lengths

PAIRS = ("CR-NRR", "BLEU-NSBLEU")
"""Names of the pairs of quality and diversity measure."""


class Point(NamedTuple):
    """Quality and diversity of a corpus by one pair of measures."""

    quality: float
    """Higher is better."""
    diversity: float
    """Higher is more diverse."""


def point(pair: str, q: Words, p: Words, n: int) -> Point:
    """Return the quality of Q against P and the diversity of Q.

    Parameters
    ----------
    pair : {"CR-NRR", "BLEU-NSBLEU"}
        Measures.
    q, p : Words
        Candidates and references.
    n : int
        Order.

    Returns
    -------
    Point
        NaN for CR-NRR when a side has no n-gram.
    """
    if pair == "BLEU-NSBLEU":
        lengths_q = sentence_lengths(q)
        lengths = [lengths_q, sentence_lengths(p)]
        quality = corpus_bleu_of_words([q, p], lengths, n)[0][-1]
        self_bleu = self_bleu_of_words(q, lengths_q, n)[:, -1].mean()
        return Point(float(quality), -float(self_bleu))

    shares_q, shares_p = _shares(q, p, n)
    if not len(shares_q):
        return Point(np.nan, np.nan)
    return Point(float(shares_q @ shares_p), -float(shares_q @ shares_q))


def largest_quality(pair: str, p: Words, n: int) -> float:
    """Return the largest quality of candidates, for DRate: 1 for BLEU, the CR of the
    best single reference for CR.

    NaN when the references have no n-gram.
    """
    if pair == "BLEU-NSBLEU":
        return 1.0
    (grams,) = grams_of([p], n)
    if not len(grams.gram):
        return np.nan

    # The CR of one reference is the mean share of its n-grams.
    share = np.bincount(grams.gram) / len(grams.gram)
    sums = np.bincount(grams.sentence, share[grams.gram], len(p.unit))
    counts = np.bincount(grams.sentence, minlength=len(p.unit))
    return float((sums[counts > 0] / counts[counts > 0]).max())


def _shares(q: Words, p: Words, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative frequencies ``(K,)`` of all n-grams in both corpora;
    empty when one has no n-gram.
    """
    sides = [grams.gram for grams in grams_of([q, p], n)]
    if not all(map(len, sides)):
        return np.empty(0), np.empty(0)
    size = 1 + int(max(gram.max() for gram in sides))
    shares_q, shares_p = (
        np.bincount(gram, minlength=size) / len(gram) for gram in sides
    )
    return shares_q, shares_p
