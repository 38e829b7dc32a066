"""Quality and diversity of one corpus judged by another, for the pairs CR-NRR and BLEU-NSBLEU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from harness.plugins.crnrr.counting import Vocabulary
from harness.plugins.crnrr.resampling import Words, grams_of, words_of
from harness.plugins.crnrr.rows import parse
from harness.plugins.diversity.corpus_bleu import corpus_bleu_of_words, self_bleu_of_words

PAIRS = ("CR-NRR", "BLEU-NSBLEU")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences as word ids of one id space, numbered from 0, and the words (S,) of each."""

    words: Words
    lengths: np.ndarray


class Point(NamedTuple):
    """Where a corpus stands on the plane of a pair."""

    quality: float
    diversity: float


def sides(stats: np.ndarray) -> tuple[Corpus, Corpus]:
    """Candidates and references of statistic rows (:class:`~harness.plugins.crnrr.rows.WordRows`)."""
    both = parse(stats)
    unit = both[0].unit  # the row of every sentence, candidates first within a row
    within = np.arange(len(unit)) - np.searchsorted(unit, np.arange(len(stats)))[unit]
    is_candidate = within < stats[unit, 0]
    out = []
    for side, chosen in zip(both, (is_candidate, ~is_candidate)):
        number = np.cumsum(chosen) - 1
        sentence = number[side.sentence]
        words = Words(side.ids, sentence, unit[chosen])
        out.append(Corpus(words, np.bincount(sentence, minlength=int(chosen.sum()))))
    return out[0], out[1]


def corpus_of(sentences: Sequence[Sequence[Any]], vocabulary: Vocabulary) -> Corpus:
    """A corpus from lists of words."""
    return Corpus(words_of(sentences, vocabulary), np.fromiter(map(len, sentences), np.int64, len(sentences)))


def point(pair: str, q: Corpus, p: Corpus, n: int) -> Point:
    """Quality of Q judged by P and diversity of Q, of order n; NaN where a side has no n-gram."""
    if pair == "BLEU-NSBLEU":
        quality = corpus_bleu_of_words([q.words, p.words], [q.lengths, p.lengths], n)[0][-1]
        return Point(float(quality), -float(self_bleu_of_words(q.words, q.lengths, n)[:, -1].mean()))
    shares_q, shares_p = _shares(q, p, n)
    if not len(shares_q):
        return Point(np.nan, np.nan)
    return Point(float(shares_q @ shares_p), -float(shares_q @ shares_q))


def largest_quality(pair: str, p: Corpus, n: int) -> float:
    """The greatest quality of a candidate: 1 for BLEU; for CR that of the best single reference sentence (DRate's span)."""
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
    """Relative frequencies of every n-gram in both corpora; empty where one has none."""
    own, other = grams_of([q.words, p.words], n)
    if not len(own.gram) or not len(other.gram):
        return np.empty(0), np.empty(0)
    size = 1 + int(max(own.gram.max(), other.gram.max()))
    return np.bincount(own.gram, minlength=size) / len(own.gram), np.bincount(other.gram, minlength=size) / len(
        other.gram
    )
