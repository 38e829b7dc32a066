"""Metrics ``distinct`` and ``vocabulary``: distinct n-grams and distinct words of the
candidates.
"""

from __future__ import annotations

import math

import numpy as np

from harness.contracts import MetricSpec, Objects
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.diversity.candidate_words import CandidateWords, candidates
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.grams import Words, grams_of, sparse_counts

_BLOCK = 1 << 22
"""Number of matrix entries that are computed together."""


def weighted_types(
    item: np.ndarray, unit: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of distinct items and of tokens of the units that have weight,
    both of shape ``(W,)``.

    Parameters
    ----------
    item, unit : ndarray
        Id and unit of each token, integers, ``(T,)``.
    weights : ndarray
        Weights of the units, ``(W, units)``; a unit of weight 0 is left out.
    """
    ids = np.unique(item, return_inverse=True)[1]
    n_types = int(ids.max(initial=-1)) + 1
    counts = sparse_counts(ids, unit, (n_types, weights.shape[1]))
    present = np.zeros(len(weights))
    tokens = weights @ np.bincount(unit, minlength=weights.shape[1])

    # In blocks: the product has an entry for each item and row of weights.
    step = max(1, _BLOCK // max(1, n_types))
    for start in range(0, len(weights), step):
        rows = weights[start : start + step]
        present[start : start + step] = np.count_nonzero(counts @ rows.T, axis=0)
    return present, tokens


class Distinct(CandidateWords):
    """Distinct-n: distinct n-grams over n-gram tokens of the candidates, in [0, 1].

    Higher is more diverse.

    The value decreases with the size of the corpus.

    Parameters
    ----------
    n : int, default 2
        Order.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Li et al., "A Diversity-Promoting Objective Function for Neural Conversation Models"
    (2016).
    """

    @check_arguments
    def __init__(self, *, n: Count = 2, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        # A resample of examples cannot have new n-grams: a bootstrap would be biased,
        # hence there is none.
        self.spec = MetricSpec(
            f"distinct{n}",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, 1.0),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"distinct|n:{self.n}|tok:{signed(self.tokenizer)}"

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return Distinct-n of all candidates pooled ``(W,)`` for integer weights
        ``(W, B)``; NaN without n-grams.
        """
        (grams,) = grams_of([candidates(objects)[0]], self.n)
        types, tokens = weighted_types(grams.gram, grams.unit, weights)
        with np.errstate(invalid="ignore"):
            return types / tokens

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return Distinct-n of a corpus of T sentences, ``lengths`` of shape (T,);
        NaN without n-grams.
        """
        (grams,) = grams_of([words], self.n)
        if not len(grams.gram):
            return float("nan")
        return len(np.unique(grams.gram)) / len(grams.gram)


class VocabularySize(CandidateWords):
    """Number of distinct words of the candidates.

    Higher is more diverse; increases with the size of the corpus.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            "vocabulary",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"vocabulary|tok:{signed(self.tokenizer)}"

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the number of distinct words of all candidates ``(W,)`` for integer
        weights ``(W, B)``.
        """
        words = candidates(objects)[0]
        return weighted_types(words.ids, words.unit[words.sentence], weights)[0]

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the number of distinct words of a corpus of T sentences,
        ``lengths`` of shape (T,).
        """
        return float(len(np.unique(words.ids)))
