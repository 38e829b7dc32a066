"""Base of the corpus metrics of candidates, which collect the words of all captions
(:class:`~harness_metrics.words.captions.CaptionWords`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, Interval, Objects
from harness_metrics.words.captions import CaptionWords, sides_of, words_object
from harness_metrics.words.grams import Words, sentence_lengths

NO_NEW_NGRAMS = (
    "a resample of examples has no new n-grams and repeats those of examples that it "
    "repeats"
)
"""Reason why values that depend on distinct n-grams have no interval."""


class CandidateWords(CaptionWords):
    """Base class of the corpus metrics of candidates."""

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the words of the candidates of each example."""
        return [
            words_object(features, ids, batch.n, self.tokenizer)
            for ids in batch.candidate_ids
        ]

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return the value of one corpus; ``lengths`` ``(S,)`` is the number of words
        of each sentence.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define value(words, lengths)"
        )

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the values of the candidates of each example, ``(B,)``."""
        return np.array(
            [self.value(*candidates(stats[k : k + 1])) for k in range(len(stats))]
        )

    def number(self, objects: Objects) -> float:
        """Return the value of all candidates pooled."""
        return self.value(*candidates(objects))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return no interval, with the reason."""
        return Interval(None, NO_NEW_NGRAMS)


def candidates(objects: Objects) -> tuple[Words, np.ndarray]:
    """Return the words of the candidates of B examples,
    and the number of words of each sentence ``(S,)``.
    """
    words = sides_of(objects)[0]
    return words, sentence_lengths(words)
