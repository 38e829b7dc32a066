"""Length of captions and entropy of their n-grams."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.crnrr.resampling import Words, grams_of
from harness_metrics.diversity.metric import CandidateWords
from harness_metrics.tokenisers.tokens import check_tokenizer, tokens_of


class Length(MeanMetric):
    """Mean number of words of a candidate. No direction; the p-values test for longer candidates.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        Name of the tokenizer.
    """

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec("caption-length", None, "item", frozenset(), bounds=(0.0, math.inf))

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"caption-length|tok:{self.tokenizer}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean number of words of the candidates of each example, shape (B,)."""
        texts = tokens_of(features, batch.text_ids[:, : batch.n].ravel(), self.tokenizer)
        counts = np.array([len(text.split()) for text in texts], dtype=np.float64)
        return counts.reshape(len(batch), batch.n).mean(axis=1)


class Entropy(CandidateWords):
    """Shannon entropy, in bits, of the distribution of n-grams over all candidates, at least 0. Higher is more diverse.

    The plug-in estimate; it increases with the size of the corpus.

    Parameters
    ----------
    n : int, default 1
        Order of the n-grams.
    tokenizer : str, default "ptb"
        Name of the tokenizer.
    """

    @check_arguments
    def __init__(self, *, n: Count = 1, tokenizer: str = "ptb") -> None:
        self.n, self.tokenizer = n, check_tokenizer(tokenizer)
        self.spec = MetricSpec(f"entropy{self.n}", True, "corpus", frozenset(), bounds=(0.0, math.inf), resampled=False)

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"entropy|n:{self.n}|tok:{self.tokenizer}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the entropy of the n-grams of a corpus of S sentences, ``lengths`` of shape (S,); NaN without an n-gram."""
        (grams,) = grams_of([words], self.n)
        if not len(grams.gram):
            return float("nan")
        shares = np.unique(grams.gram, return_counts=True)[1] / len(grams.gram)
        return float(-(shares * np.log2(shares)).sum() + 0.0)
