"""Metric ``pairwise-bleu``: sentence BLEU between the candidates of an example."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import Order, check_arguments
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed


class PairwiseBleu(MeanMetric):
    """Mean sentence BLEU-n over the ordered pairs of candidates of an example,
    in [0, 1].

    Lower is more diverse.

    The paper pools the counts of all pairs. Here each pair has a sentence BLEU with
    add-one smoothing above order 1, which is defined for short captions.

    Parameters
    ----------
    n : int, default 4
        Largest order, from 1 to 4.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer from 1 to 4.

    References
    ----------
    Shen et al., "Mixture Models for Diverse Machine Translation: Tricks of the Trade"
    (2019).
    """

    @check_arguments
    def __init__(self, *, n: Order = 4, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"pairwise-bleu{n}",
            False,
            "set",
            frozenset(),
            min_candidates=2,
            bounds=(0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"pairwise-bleu|n:{self.n}|smooth:add-one|tok:{signed(self.tokenizer)}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the mean BLEU of the pairs of each example, ``(B,)``."""
        from harness_metrics.ngram.bleu import pair_scores
        from harness_metrics.tokenisers.text_rows import text_rows_of

        texts = text_rows_of(features, self.tokenizer)
        rows = texts.gram_rows(features, batch.candidate_ids)
        pairs = pair_scores(texts.index, rows, rows, self.n, "add-one")
        diagonal = np.trace(pairs, axis1=1, axis2=2)
        return (pairs.sum(axis=(1, 2)) - diagonal) / (batch.n * (batch.n - 1))
