"""Quality and diversity of a corpus against references, for the pairs CR-NRR and BLEU-NSBLEU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.contracts import Objects
from harness_metrics.crnrr.caption_words import sentence_lengths, sides_of
from harness_metrics.crnrr.counting import Vocabulary
from harness_metrics.crnrr.resampling import Words, grams_of, words_of
from harness_metrics.diversity.corpus_bleu import corpus_bleu_of_words, self_bleu_of_words

PAIRS = ("CR-NRR", "BLEU-NSBLEU")
"""Names of the pairs of quality and diversity measure."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences as word ids; the corpora of one comparison share the ids."""

    words: Words
    """Words, sentences numbered from 0."""
    lengths: np.ndarray
    """``(S,)`` number of words of each sentence."""


class Point(NamedTuple):
    """Quality and diversity of a corpus by one pair of measures."""

    quality: float
    """Higher is better."""
    diversity: float
    """Higher is more diverse."""


def corpora_of(objects: Objects) -> tuple[Corpus, Corpus]:
    """Return candidates and references of the objects of :class:`~harness_metrics.crnrr.caption_words.CaptionWords`."""
    q, p = (Corpus(words, sentence_lengths(words)) for words in sides_of(objects))
    return q, p


def corpus_of(sentences: Sequence[Sequence[Any]], vocabulary: Vocabulary) -> Corpus:
    """Return a corpus of sentences as lists of words; new words are added to the vocabulary."""
    return Corpus(words_of(sentences, vocabulary), np.fromiter(map(len, sentences), np.int64, len(sentences)))


def point(pair: str, q: Corpus, p: Corpus, n: int) -> Point:
    """Return the quality of Q against P and the diversity of Q.

    Parameters
    ----------
    pair : {"CR-NRR", "BLEU-NSBLEU"}
        Measures.
    q, p : Corpus
        Candidates and references.
    n : int
        Order.

    Returns
    -------
    Point
        NaN for CR-NRR when a side has no n-gram.
    """
    if pair == "BLEU-NSBLEU":
        quality = corpus_bleu_of_words([q.words, p.words], [q.lengths, p.lengths], n)[0][-1]
        return Point(float(quality), -float(self_bleu_of_words(q.words, q.lengths, n)[:, -1].mean()))
    shares_q, shares_p = _shares(q, p, n)
    if not len(shares_q):
        return Point(np.nan, np.nan)
    return Point(float(shares_q @ shares_p), -float(shares_q @ shares_q))


def largest_quality(pair: str, p: Corpus, n: int) -> float:
    """Return the largest quality of candidates, for DRate: 1 for BLEU, the CR of the best single reference for CR.

    NaN when the references have no n-gram.
    """
    if pair == "BLEU-NSBLEU":
        return 1.0
    (grams,) = grams_of([p.words], n)
    if not len(grams.gram):
        return np.nan
    share = np.bincount(grams.gram) / len(grams.gram)
    sums = np.bincount(grams.sentence, share[grams.gram], len(p.lengths))
    counts = np.bincount(grams.sentence, minlength=len(p.lengths))
    return float((sums[counts > 0] / counts[counts > 0]).max())


def _shares(q: Corpus, p: Corpus, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative frequencies ``(K,)`` of all n-grams in both corpora; empty when one has no n-gram."""
    sides = [grams.gram for grams in grams_of([q.words, p.words], n)]
    if not all(map(len, sides)):
        return np.empty(0), np.empty(0)
    size = 1 + int(max(gram.max() for gram in sides))
    shares_q, shares_p = (np.bincount(gram, minlength=size) / len(gram) for gram in sides)
    return shares_q, shares_p
