"""Metric ``caption-length``: number of words of a candidate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness_metrics.tokenisers.tokens import (
    TokenizerName,
    check_tokenizer,
    signed,
    tokens_of,
)


class Length(MeanMetric):
    """Mean number of words of a candidate.

    No direction; the p-values test for longer candidates.

    Parameters
    ----------
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.
    """

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            "caption-length", None, "item", frozenset(), bounds=(0.0, math.inf)
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"caption-length|tok:{signed(self.tokenizer)}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean number of words of the candidates of each example,
        shape (B,).
        """
        ids = batch.text_ids[:, : batch.n].ravel()
        texts = tokens_of(features, ids, self.tokenizer)
        counts = np.array([len(text.split()) for text in texts], dtype=np.float64)
        return counts.reshape(len(batch), batch.n).mean(axis=1)
