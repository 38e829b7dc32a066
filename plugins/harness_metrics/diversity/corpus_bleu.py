"""BLEU of sentences against a whole corpus, and Self-BLEU, both in linear time.

Clipping needs the largest count of an n-gram within any single reference. For Self-BLEU
it needs the largest count within any other sentence: the largest in the corpus, or the
second largest for the sentence that has the largest. One pass over the corpus therefore
replaces the comparison of all pairs and gives the same digits.

Precisions are pooled over the scored sentences, BLEU is the geometric mean of the
orders 1 to M, the brevity penalty uses the closest reference length (the shorter one of
two equally close), and there is no smoothing.

Source: Li et al. (ICML 2020), section 5.1; Zhu et al., "Texygen" (2018) for Self-BLEU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from caption_kernels import exp, log
from harness_metrics.words.grams import Words, grams_of
from harness_metrics.words.keys import changes


@dataclass(frozen=True, eq=False)
class SentenceGrams:
    """Distinct pairs of sentence and n-gram of one order and one corpus,
    all arrays ``(K,)``.
    """

    sentence: np.ndarray
    """Number of the sentence."""
    gram: np.ndarray
    """Id of the n-gram."""
    count: np.ndarray
    """Count of the n-gram in the sentence."""


def corpus_bleu_of_words(
    sides: Sequence[Words], lengths: Sequence[np.ndarray], orders: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return BLEU of the corpus ``(orders,)`` and of every single candidate
    ``(S, orders)``, from word ids.

    Parameters
    ----------
    sides : sequence of Words
        Candidates and references with common ids.
    lengths : sequence of ndarray
        ``(S,)`` number of words of each sentence, for both sides.
    orders : int
        Largest order.
    """
    correct = np.zeros((len(lengths[0]), orders))
    guesses = np.zeros((len(lengths[0]), orders))
    for n in range(1, orders + 1):
        q, p = (
            _per_sentence(grams.sentence, grams.gram) for grams in grams_of(sides, n)
        )

        # Clipping against all references is clipping against the largest count in any
        # of them.
        size = 1 + int(max(q.gram.max(initial=-1), p.gram.max(initial=-1)))
        largest = np.zeros(size, dtype=np.int64)
        np.maximum.at(largest, p.gram, p.count)
        matched = np.minimum(q.count, largest[q.gram])
        correct[:, n - 1] = np.bincount(q.sentence, matched, len(lengths[0]))
        guesses[:, n - 1] = np.bincount(q.sentence, q.count, len(lengths[0]))

    closest = _closest(lengths[0], np.unique(lengths[1]))
    corpus = _bleu(
        correct.sum(axis=0), guesses.sum(axis=0), lengths[0].sum(), closest.sum()
    )
    return corpus, _bleu(correct, guesses, lengths[0], closest)


def self_bleu_of_words(words: Words, lengths: np.ndarray, orders: int) -> np.ndarray:
    """Return BLEU of each sentence against all others, ``(S, orders)``, from word ids;
    ``lengths`` ``(S,)`` are in words.
    """
    correct = np.zeros((len(lengths), orders))
    guesses = np.zeros((len(lengths), orders))
    for n in range(1, orders + 1):
        (grams,) = grams_of([words], n)
        pairs = _per_sentence(grams.sentence, grams.gram)
        matched = np.minimum(pairs.count, _largest_elsewhere(pairs))
        correct[:, n - 1] = np.bincount(pairs.sentence, matched, len(lengths))
        guesses[:, n - 1] = np.bincount(pairs.sentence, pairs.count, len(lengths))
    return _bleu(correct, guesses, lengths, _closest_other(lengths))


def _per_sentence(sentence: np.ndarray, gram: np.ndarray) -> SentenceGrams:
    """Return the counts per sentence of n-gram tokens ``(T,)``."""
    order = np.lexsort((gram, sentence))
    pairs = np.stack([sentence[order], gram[order]])
    starts = np.flatnonzero(changes(pairs))
    return SentenceGrams(
        pairs[0, starts], pairs[1, starts], np.diff(starts, append=len(order))
    )


def _largest_elsewhere(pairs: SentenceGrams) -> np.ndarray:
    """Return for each pair the largest count of its n-gram in any other sentence,
    ``(K,)``; 0 for none.
    """
    # Sorted by n-gram and falling count, the first pair of a run has the largest count
    # of the corpus and the second the largest of any other sentence.
    order = np.lexsort((-pairs.count, pairs.gram))
    gram = pairs.gram[order]
    count = pairs.count[order]
    first = changes(gram[None, :])
    start = np.flatnonzero(first)
    group = np.cumsum(first) - 1

    second = np.zeros(len(start), dtype=np.int64)
    more = np.diff(start, append=len(gram)) > 1
    second[more] = count[start[more] + 1]

    out = np.empty(len(gram), dtype=np.int64)
    out[order] = np.where(first, second[group], count[start][group])
    return out


def _closest(lengths: np.ndarray, options: np.ndarray) -> np.ndarray:
    """Return the closest of the ascending, distinct options to each length ``(S,)``,
    the smaller of two equally close.
    """
    at = np.zeros_like(lengths)
    if len(options) > 1:
        at = np.clip(np.searchsorted(options, lengths), 1, len(options) - 1)
    low = options[np.maximum(at - 1, 0)]
    high = options[at]
    return np.where(lengths - low <= high - lengths, low, high)


def _closest_other(lengths: np.ndarray) -> np.ndarray:
    """Return the closest length among the other sentences, ``(S,)``."""
    options, at, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    # A sentence is no reference of its own: its length counts only where another
    # sentence has it too. Sentinels at both ends spare the cases without a neighbour.
    padded = np.concatenate([[-(1 << 40)], options, [1 << 40]])
    low = padded[at]
    high = padded[at + 2]
    nearest = np.where(lengths - low <= high - lengths, low, high)
    return np.where(counts[at] > 1, lengths, nearest)


def _bleu(
    correct: np.ndarray, guesses: np.ndarray, length: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """Return BLEU ``(..., orders)`` of matches and n-grams ``(..., orders)`` and
    lengths ``(...)``.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = log(np.where(guesses > 0, correct / np.maximum(guesses, 1), 0.0))
        ratio = np.asarray(reference) / np.asarray(length, dtype=np.float64)
        penalty = np.minimum(0.0, 1.0 - ratio)
        orders: int = logs.shape[-1]
        means = np.cumsum(logs, axis=-1) / np.arange(1, orders + 1)
        return np.where(np.isneginf(means), 0.0, exp(means + penalty[..., None]))
