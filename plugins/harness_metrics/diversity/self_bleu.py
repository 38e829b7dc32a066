"""Metric ``self-bleu``: BLEU of each candidate against the other candidates."""

from __future__ import annotations

import numpy as np

from harness.contracts import Interval, MetricSpec, Objects, weighted_means
from harness.contracts.parameters import Count, check_arguments
from harness.stats import bootstrap
from harness_metrics.diversity.candidate_words import CandidateWords
from harness_metrics.diversity.corpus_bleu import self_bleu_of_words
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.grams import Words


class SelfBleu(CandidateWords):
    """Self-BLEU-n: mean BLEU of each candidate against all others, in [0, 1].

    Lower is more diverse.

    Parameters
    ----------
    n : int, default 4
        Largest order.
    conditional : bool, default False
        Compare the candidates of each example with each other and average, in place of
        all candidates of the run.
    negative : bool, default False
        Return NSBLEU, minus Self-BLEU; higher is more diverse.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    HarnessError
        For an ``n`` that is not an integer of at least 1.

    References
    ----------
    Zhu et al., "Texygen: A Benchmarking Platform for Text Generation Models" (2018).
    """

    @check_arguments
    def __init__(
        self,
        *,
        n: Count = 4,
        conditional: bool = False,
        negative: bool = False,
        tokenizer: TokenizerName = "ptb",
    ) -> None:
        self.n = n
        self.conditional = bool(conditional)
        self.negative = bool(negative)
        self.tokenizer = check_tokenizer(tokenizer)
        name = f"nsbleu{n}" if negative else f"self-bleu{n}"
        if conditional:
            name += " conditional"
        self.spec = MetricSpec(
            name,
            self.negative,
            level="corpus",
            needs=frozenset(),
            min_candidates=2 if conditional else 1,
            resampled=self.conditional,
            bounds=(-1.0, 0.0) if negative else (0.0, 1.0),
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        name = "nsbleu" if self.negative else "self-bleu"
        use = "per-example" if self.conditional else "pooled"
        return f"{name}|n:{self.n}|{use}|tok:{signed(self.tokenizer)}"

    def value(self, words: Words, lengths: np.ndarray) -> float:
        """Return Self-BLEU or NSBLEU of a corpus of T sentences, ``lengths`` of shape
        (T,); NaN for fewer than two sentences.
        """
        if len(lengths) < 2:
            return float("nan")
        value = float(self_bleu_of_words(words, lengths, self.n)[:, -1].mean())
        return -value if self.negative else value

    def number(self, objects: Objects) -> float:
        """Return the value, pooled or the mean over examples."""
        if self.conditional:
            return float(self.per_example(objects).mean())
        return super().number(objects)

    def numbers(self, objects: Objects, weights: np.ndarray) -> np.ndarray:
        """Return the values ``(W,)`` for weights ``(W, B)``."""
        if not self.conditional:
            return super().numbers(objects, weights)
        return weighted_means(weights, self.per_example(objects))

    def interval(self, stats: Objects, samples: int, seed: int) -> Interval:
        """Return the bootstrap interval of the mean over examples, or for the pooled
        value none, with the reason.
        """
        if not self.conditional:
            return super().interval(stats, samples, seed)

        values = self.per_example(stats)
        ends = bootstrap.confidence_interval(
            lambda w: weighted_means(w, values), len(values), samples, seed
        )
        return Interval(ends, "" if ends else bootstrap.NO_SPREAD)
