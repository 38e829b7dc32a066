"""Corpus BLEU as text-generation studies use it:
every candidate has all references of the task.
"""

from __future__ import annotations

import numpy as np

from harness.contracts import MetricSpec, Objects
from harness.contracts.parameters import Count, check_arguments
from harness_metrics.diversity.corpus_bleu import corpus_bleu_of_words
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.captions import CaptionWords, sides_of
from harness_metrics.words.grams import sentence_lengths


class CorpusBleu(CaptionWords):
    """Corpus BLEU-n, the quality measure that ``self-bleu`` complements.

    Higher is better; in [0, 1].

    Precisions are pooled over all candidates; counts are clipped by the largest count
    within any single reference of the task.

    Parameters
    ----------
    n : int, default 4
        Largest order.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), section 5.1.
    """

    @check_arguments
    def __init__(self, *, n: Count = 4, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"corpus-bleu{n}", True, level="corpus", bounds=(0.0, 1.0), resampled=False
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"corpus-bleu|n:{self.n}|tok:{signed(self.tokenizer)}"

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return BLEU ``(B,)`` of the first candidate of each example against all
        references of the B examples.
        """
        candidate_scores = self._both(stats)[1][:, -1]
        n_candidates = stats.values("candidates")
        return candidate_scores[np.cumsum(n_candidates) - n_candidates]

    def number(self, objects: Objects) -> float:
        """Return BLEU of all candidates."""
        return float(self._both(objects)[0][-1])

    def _both(self, objects: Objects) -> tuple[np.ndarray, np.ndarray]:
        """Return corpus BLEU ``(n,)`` and BLEU of each candidate ``(S, n)`` for orders
        1 to n.
        """
        sides = sides_of(objects)
        lengths = [sentence_lengths(side) for side in sides]
        return corpus_bleu_of_words(sides, lengths, self.n)
