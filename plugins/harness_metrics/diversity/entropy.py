"""Metric ``entropy``: spread of the n-grams of all candidates."""

from __future__ import annotations

import math

import numpy as np

from caption_kernels import log
from harness.contracts import MetricSpec
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.diversity.candidate_words import CandidateWords
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.grams import Words, grams_of


class Entropy(CandidateWords):
    """Shannon entropy, in bits, of the distribution of n-grams over all candidates,
    at least 0.

    Higher is more diverse.

    The plug-in estimate; it increases with the size of the corpus.

    Parameters
    ----------
    n : int, default 1
        Order of the n-grams.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    @check_arguments
    def __init__(self, *, n: Count = 1, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"entropy{self.n}",
            True,
            "corpus",
            frozenset(),
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"entropy|n:{self.n}|tok:{signed(self.tokenizer)}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the entropy of the n-grams of a corpus of S sentences, ``lengths`` of
        shape (S,); NaN without an n-gram.
        """
        (grams,) = grams_of([words], self.n)
        if not len(grams.gram):
            return float("nan")
        shares = np.unique(grams.gram, return_counts=True)[1] / len(grams.gram)
        return float(-(shares * log(shares)).sum() / log(2.0) + 0.0)
