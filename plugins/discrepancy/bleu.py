"""Corpus BLEU: all references of the task are the references of every candidate, as text-generation studies use it."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import MetricSpec
from harness.errors import HarnessError
from harness.plugins.crnrr.rows import WordRows
from harness.plugins.discrepancy.corpora import sides
from harness.plugins.diversity.corpus_bleu import corpus_bleu_of_words
from harness.plugins.tokenisers.tokens import check_tokenizer


class CorpusBleu(WordRows):
    """Corpus BLEU-n: precisions pooled over all candidates, clipped by the largest count within any single reference of the task.

    Higher is better. Counterpart of ``self-bleu`` (Li et al. 2020, section 5.1); per example the BLEU of its own first candidate.
    """

    def __init__(self, *, n: int = 4, tokenizer: str = "ptb") -> None:
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise HarnessError(f"corpus-bleu: n is {n!r}; expected an integer of at least 1")
        self.n, self.tokenizer = n, check_tokenizer(tokenizer)
        self.spec = MetricSpec(f"corpus-bleu{n}", True, level="corpus", bounds=(0.0, 1.0), shardable=False)

    def signature(self) -> str:
        return f"corpus-bleu|n:{self.n}|tok:{self.tokenizer}"

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """(B,) BLEU of each example's first candidate against all references of these rows."""
        each = self._both(stats)[1][:, -1]
        first = np.cumsum(stats[:, 0].astype(np.int64)) - stats[:, 0].astype(np.int64)
        return each[first]

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        """The corpus value; with weights, of the examples repeated as often as they weigh."""
        if weights is None:
            return float(self._both(stats)[0][-1]) if len(stats) else float("nan")
        rows = np.arange(len(stats))
        return np.array([self.reduce(stats[np.repeat(rows, w.astype(int))]) for w in np.asarray(weights)])

    def _both(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, p = sides(stats)
        return corpus_bleu_of_words([q.words, p.words], [q.lengths, p.lengths], self.n)
