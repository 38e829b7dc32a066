"""Corpus BLEU as text-generation studies use it: every candidate has all references of the task."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import MetricSpec
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.crnrr.rows import WordRows, repeat_rows
from harness_metrics.discrepancy.corpora import sides
from harness_metrics.diversity.corpus_bleu import corpus_bleu_of_words
from harness_metrics.tokenisers.tokens import check_tokenizer


class CorpusBleu(WordRows):
    """Corpus BLEU-n, the quality measure that ``self-bleu`` complements. Higher is better; in [0, 1].

    Precisions are pooled over all candidates; counts are clipped by the largest count within any single reference of the
    task.

    Parameters
    ----------
    n : int, default 4
        Largest order.
    tokenizer : str, default "ptb"
        Name of the tokenizer.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and Distribution-Fitting Goal in Text Generation"
    (ICML 2020), section 5.1.
    """

    @check_arguments
    def __init__(self, *, n: Count = 4, tokenizer: str = "ptb") -> None:
        self.n, self.tokenizer = n, check_tokenizer(tokenizer)
        self.spec = MetricSpec(f"corpus-bleu{n}", True, level="corpus", bounds=(0.0, 1.0), shardable=False)

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"corpus-bleu|n:{self.n}|tok:{self.tokenizer}"

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """Return BLEU ``(B,)`` of the first candidate of each example against all references of the statistics ``(B, d)``."""
        candidate_scores = self._both(stats)[1][:, -1]
        first = np.cumsum(stats[:, 0].astype(np.int64)) - stats[:, 0].astype(np.int64)
        return candidate_scores[first]

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """Return the value of statistics ``(B, d)``, or the values ``(W,)`` for integer weights ``(W, B)``."""
        if weights is None:
            return float(self._both(stats)[0][-1]) if len(stats) else float("nan")
        return np.array([self.reduce(rows) for rows in repeat_rows(stats, weights)])

    def _both(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return corpus BLEU ``(n,)`` and BLEU of each candidate ``(S, n)`` for orders 1 to n."""
        q, p = sides(stats)
        return corpus_bleu_of_words([q.words, p.words], [q.lengths, p.lengths], self.n)
