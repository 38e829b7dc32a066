"""Metrics ``mbleu``, ``compression-ratio`` and ``ms-jaccard``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, Objects, SumMetric
from harness.contracts.parameters import Count, Order, check_arguments
from harness_metrics.ngram.bleu import Bleu
from harness_metrics.sets.grouped_jackknife import Jackknifed
from harness_metrics.sets.redundancy import compression_ratio, ms_jaccard
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed
from harness_metrics.words.captions import CaptionWords, sides_of


class MBleu(SumMetric):
    """Corpus BLEU-n of each candidate against the other candidates of its example, in
    [0, 1]; lower is more diverse.

    Counts and lengths are summed over all candidates of all examples, then BLEU is
    computed once, as for ``bleu``.

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
    Shetty et al. 2017, *Speaking the Same Language: Matching Machine to Human Captions
    by Adversarial Training*, section 5.2.
    """

    @check_arguments
    def __init__(self, *, n: Order = 4, tokenizer: TokenizerName = "ptb") -> None:
        self.bleu = Bleu(n=n, tokenizer=tokenizer)
        self.spec = MetricSpec(
            f"mbleu{n}", False, "set", frozenset(), min_candidates=2, bounds=(0.0, 1.0)
        )

    def signature(self) -> str:
        """Return ``m`` and the signature of BLEU: ``mbleu|n:4|tok:ptb``."""
        return f"m{self.bleu.signature()}"

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return the statistics of BLEU, the first column averaged over the candidates
        and the others summed, shape (B, 11).
        """
        total = np.zeros((len(batch), 11))
        for k in range(batch.n):
            total += self.bleu.stats(_against_the_others(batch, k), features, None)
        total[:, 0] /= batch.n
        return total

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return BLEU (...) of summed n-gram counts and lengths (..., 10)."""
        return self.bleu.of_sums(sums)

    def own_share(self, stats: np.ndarray) -> np.ndarray:
        """Return the share of the orders that have a match, shape (B,), as of BLEU."""
        return self.bleu.own_share(stats)


def _against_the_others(batch: Batch, k: int) -> Batch:
    """Return the batch whose only candidate is candidate k and whose references are the
    other candidates.
    """
    others = [*range(k), *range(k + 1, batch.n)]

    sets = tuple(
        replace(
            item,
            candidates=(item.candidates[k],),
            references=tuple(item.candidates[i] for i in others),
        )
        for item in batch.sets
    )
    columns = np.array([k, *others])
    return Batch(sets, batch.text_ids[:, columns], 1, batch.n - 1, batch, columns)


class CompressionRatio(Jackknifed):
    """Bytes of all candidates over the bytes of their gzip file, about 1 or more;
    lower is more diverse.

    The candidates are sorted, so that their order does not matter. The ratio increases
    with the size of the corpus, and a resample has copies that compress: the interval
    is a jackknife over groups of examples.

    References
    ----------
    Shaib et al. 2024, *Standardizing the Measurement of Text Diversity: A Tool and a
    Comparative Analysis of Scores*.
    """

    def __init__(self) -> None:
        self.spec = MetricSpec(
            "compression-ratio",
            False,
            "corpus",
            frozenset(),
            bounds=(0.0, math.inf),
            resampled=False,
        )

    def signature(self) -> str:
        """Return ``compression-ratio|gzip|sorted``."""
        return "compression-ratio|gzip|sorted"

    def collect(self, batch: Batch, features: Features, state: Any) -> Sequence[object]:
        """Return the UTF-8 bytes of the candidates of each example, one line each."""
        texts = [
            "".join(f"{' '.join(text.split())}\n" for text in item.candidates)
            for item in batch.sets
        ]
        return [
            np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
            for text in texts
        ]

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the ratio of the candidates of each example, shape (B,);
        NaN without any letter.
        """
        return np.array([self.number(stats[k : k + 1]) for k in range(len(stats))])

    def number(self, objects: Objects) -> float:
        """Return the ratio of all candidates; NaN without any letter."""
        return compression_ratio(
            [line for line in objects.values().tobytes().split(b"\n") if line]
        )


class MsJaccard(Jackknifed, CaptionWords):
    """MS-Jaccard-n of all candidates and all references: quality and diversity in one
    number, in [0, 1]; higher is better.

    A resample of examples cannot have new n-grams: the interval is a jackknife over
    groups of examples.

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
    Alihosseini et al. 2019, *Jointly Measuring Diversity and Quality in Text Generation
    Models*.
    """

    @check_arguments
    def __init__(self, *, n: Count = 4, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            f"ms-jaccard{n}", True, "corpus", bounds=(0.0, 1.0), resampled=False
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        return f"ms-jaccard|n:{self.n}|tok:{signed(self.tokenizer)}"

    def per_example(self, stats: Objects) -> np.ndarray:
        """Return the values of the captions of each example, shape (B,); NaN where no
        caption has an n-gram of an order.
        """
        return np.array(
            [self.number(stats[k : k + 1]) for k in range(len(stats))], dtype=np.float64
        )

    def number(self, objects: Objects) -> float:
        """Return the value of all captions."""
        candidates, references = sides_of(objects)
        return ms_jaccard(
            candidates, references, (len(candidates.unit), len(references.unit)), self.n
        )
