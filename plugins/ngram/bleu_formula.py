"""BLEU of word lists as the formulas read (Papineni et al. 2002), with the COCO caption toolkit's constants.

The readable reference of :mod:`harness.plugins.ngram.bleu_kernels`, and the array formula that both share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.plugins.ngram.index import ORDERS, count_ngrams

TINY, SMALL = 1e-15, 1e-9
"""The toolkit's guards against 0 / 0: (correct + TINY) / (guess + SMALL), for counts and for lengths."""
Words = Sequence[str]


class BleuCounts(NamedTuple):
    """Sufficient statistics of BLEU; additive over sentences."""

    correct: list[int]
    """Clipped n-gram matches of orders 1 to 4."""
    length: int
    """Words of the hypothesis."""
    reference_length: int
    """Words of the closest reference."""


def counts(hyp: Words, refs: Sequence[Words]) -> BleuCounts:
    """Return the statistics of a hypothesis against its references.

    Matches are clipped at the largest count in any one reference. Of two equally close reference lengths the shorter counts.

    >>> counts("a dog a dog".split(), ["a dog".split()])
    BleuCounts(correct=[2, 1, 0, 0], length=4, reference_length=2)
    """
    correct = []
    in_refs = [count_ngrams(ref) for ref in refs]
    for k, in_hyp in enumerate(count_ngrams(hyp)):
        correct.append(sum(min(count, max(ref[k][gram] for ref in in_refs)) for gram, count in in_hyp.items()))
    closest = min((abs(len(ref) - len(hyp)), len(ref)) for ref in refs)[1]
    return BleuCounts(correct, len(hyp), closest)


def sentence_bleu(stats: BleuCounts, n: int = ORDERS) -> float:
    """Return the toolkit's BLEU-n of one sentence, in [0, 1].

    >>> round(sentence_bleu(counts("a dog".split(), ["a dog runs".split()]), 2), 6)  # exp(1 - 3 / 2)
    0.606531
    """
    guesses = [max(0, stats.length - k) for k in range(ORDERS)]
    return float(toolkit_bleu(np.array(stats.correct), np.array(guesses), stats.length, stats.reference_length, n))


def smoothed_bleu(stats: BleuCounts, n: int = ORDERS) -> float:
    """Return BLEU-n with one added to matches and guesses above order 1, in [0, 1]; exactly 1 for equal texts.

    An empty hypothesis scores 1 against an empty reference and 0 against any other.

    References
    ----------
    Lin & Och (2004), "ORANGE: a Method for Evaluating Automatic Evaluation Metrics for Machine Translation" (BLEU+1).
    """
    if stats.length == 0:
        return float(stats.reference_length == 0)
    product = stats.correct[0] / stats.length
    for k in range(1, n):
        product *= (stats.correct[k] + 1) / (max(0, stats.length - k) + 1)
    shorter = stats.length < stats.reference_length
    return product ** (1 / n) * (math.exp(1 - stats.reference_length / stats.length) if shorter else 1.0)


def toolkit_bleu(
    correct: np.ndarray, guess: np.ndarray, length: np.ndarray | float, reference_length: np.ndarray | float, n: int
) -> np.ndarray:
    """Return BLEU-n as the toolkit computes it, of single sentences or of summed counts.

    Parameters
    ----------
    correct, guess : ndarray
        Matches and numbers of n-grams, shape (..., 4).
    length, reference_length : ndarray or float
        Words of the hypothesis and of the closest reference, shape (...).
    n : int
        Highest order, 1 to 4.

    Returns
    -------
    ndarray
        Shape (...), in [0, 1].
    """
    precision = (correct[..., :n] + TINY) / (guess[..., :n] + SMALL)
    product = precision[..., 0]
    for k in range(1, n):
        product = product * precision[..., k]
    ratio = (np.asarray(length) + TINY) / (np.asarray(reference_length) + SMALL)
    with np.errstate(over="ignore", under="ignore"):
        return product ** (1.0 / n) * np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
