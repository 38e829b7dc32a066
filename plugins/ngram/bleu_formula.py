"""BLEU of word lists, as the formulas read (Papineni et al. 2002), with the COCO toolkit's constants."""

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
    """What BLEU is made of; adds up over sentences."""

    correct: list[int]
    """Clipped n-gram matches per order."""
    length: int
    reference_length: int


def counts(hyp: Words, refs: Sequence[Words]) -> BleuCounts:
    """Matches clipped at the largest count in any one reference; the closest reference length, the shorter on ties."""
    correct = []
    in_refs = [count_ngrams(ref) for ref in refs]
    for k, found in enumerate(count_ngrams(hyp)):
        correct.append(sum(min(count, max(ref[k][gram] for ref in in_refs)) for gram, count in found.items()))
    closest = min((abs(len(ref) - len(hyp)), len(ref)) for ref in refs)[1]
    return BleuCounts(correct, len(hyp), closest)


def sentence_bleu(found: BleuCounts, n: int = ORDERS) -> float:
    """The toolkit's BLEU-n of one sentence."""
    guesses = [max(0, found.length - k) for k in range(ORDERS)]
    return float(toolkit_bleu(np.array(found.correct), np.array(guesses), found.length, found.reference_length, n))


def smoothed_bleu(found: BleuCounts, n: int = ORDERS) -> float:
    """BLEU-n with one added to matches and guesses above order 1 (Lin & Och 2004, BLEU+1); exactly 1 for equal texts.

    An empty hypothesis has 1 against an empty reference, and 0 against any other.
    """
    if found.length == 0:
        return float(found.reference_length == 0)
    product = found.correct[0] / found.length
    for k in range(1, n):
        product *= (found.correct[k] + 1) / (max(0, found.length - k) + 1)
    shorter = found.length < found.reference_length
    return product ** (1 / n) * (math.exp(1 - found.reference_length / found.length) if shorter else 1.0)


def toolkit_bleu(correct: np.ndarray, guess: np.ndarray, length, reference_length, n: int) -> np.ndarray:
    """(...) BLEU-n as the toolkit computes it, per item and of summed counts alike.

    ``correct`` and ``guess`` are (..., 4); lengths (...).
    """
    precision = (correct[..., :n] + TINY) / (guess[..., :n] + SMALL)
    product = precision[..., 0]
    for k in range(1, n):
        product = product * precision[..., k]
    ratio = (np.asarray(length) + TINY) / (np.asarray(reference_length) + SMALL)
    with np.errstate(over="ignore", under="ignore"):
        return product ** (1.0 / n) * np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
