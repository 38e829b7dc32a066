"""QDisc of a corpus against the curve of noisy copies of its references.

Copies of the references are mixed with noise. When such a mixture is as diverse as a
corpus of real text and has higher quality, the pair of measures prefers it to real
text. Source: Li et al. (ICML 2020), section 6.2, Figure 2 and Table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from harness.contracts import Batch, Features, MetricSpec, Objects
from harness.contracts.parameters import Count, check_arguments
from harness.errors import HarnessError, InputError, UnknownName
from harness_metrics.discrepancy.mixing import Length, draw
from harness_metrics.discrepancy.qdisc import CurveDiscrepancy, curve_discrepancy, ratio
from harness_metrics.discrepancy.quality_diversity import PAIRS, largest_quality, point
from harness_metrics.tokenisers.tokens import (
    TokenizerName,
    check_tokenizer,
    signed,
    tokens_of,
)
from harness_metrics.words.captions import CaptionWords, sides_of, words_object
from harness_metrics.words.grams import Words, words_of
from harness_metrics.words.keys import Vocabulary

QUANTITIES = ("qdisc", "drate", "self-ratio", "ref-ratio")
"""Values of the parameter ``show``."""
LENGTHS: tuple[Length, ...] = (5, "same")
"""Lengths of the noise sentences in the paper, which reports the larger discrepancy."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Quality and diversity of the noisy copies."""

    quality: np.ndarray
    """``(lengths, epsilons)``."""
    diversity: np.ndarray
    """``(lengths, epsilons)``."""
    span: float
    """Largest quality of candidates, for DRate."""


class QualityDiscrepancy(CaptionWords):
    """Quality of a noisy copy of the references at the diversity of the candidates,
    minus that of the candidates.

    For real text, a sound pair of measures gives values of at most 0. The value is
    undefined (NaN) when the diversity of the candidates is outside the curve. A copy
    has as many sentences as the references; the candidates should too. Lower is better.

    Parameters
    ----------
    pair : {"CR-NRR", "BLEU-NSBLEU"}, default "CR-NRR"
        Measures of quality and diversity.
    n : int, default 2
        Order.
    show : {"qdisc", "drate", "self-ratio", "ref-ratio"}, default "qdisc"
        Quantity: the discrepancy, or its ratio to the span of quality (1 for BLEU, the
        CR of the best single reference for CR), to the quality of the candidates, or to
        the loss of quality from the first to the second share of noise.
    epsilons : sequence of float, default (0, 0.2, 0.4, 0.6)
        Ascending shares of noise.
    length : int or "same", optional
        Number of words of a noise sentence, or the lengths of the references; by
        default the larger discrepancy of 5 and ``same``.
    seed : int, default 0
        Seed of the noisy copies.
    tokenizer : str, default "ptb"
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    Raises
    ------
    UnknownName
        For an unknown pair or quantity.
    HarnessError
        For a parameter out of range.

    References
    ----------
    Li et al., "On the Relation between Quality-Diversity Evaluation and
    Distribution-Fitting Goal in Text Generation" (ICML 2020), section 6.2, Figure 2 and
    Table 2.
    """

    expected_check_failures: ClassVar[dict[str, str]] = dict.fromkeys(
        ("example-order", "reference-order"),
        "noisy copies of the references are drawn from a seed, "
        "in the order of the references",
    )

    @check_arguments
    def __init__(
        self,
        *,
        pair: str = "CR-NRR",
        n: Count = 2,
        show: str = "qdisc",
        epsilons: Sequence[float] = (0.0, 0.2, 0.4, 0.6),
        length: Count | Literal["same"] | None = None,
        seed: int = 0,
        tokenizer: TokenizerName = "ptb",
    ) -> None:
        for name, value, options in (("pair", pair, PAIRS), ("show", show, QUANTITIES)):
            if value not in options:
                raise UnknownName.of_name(
                    f"qdisc: {name} is",
                    value,
                    options,
                    "expected one of",
                    parameter=name,
                )

        shares = [float(x) for x in epsilons]
        ascending = len(shares) >= 2 and shares == sorted(set(shares))
        if not ascending or shares[0] < 0 or shares[-1] > 1:
            raise HarnessError(
                f"qdisc: epsilons are {list(epsilons)}; "
                "expected two or more ascending shares from 0 to 1",
                parameter="epsilons",
                value=epsilons,
            )

        self.pair = pair
        self.n = n
        self.show = show
        self.epsilons = tuple(shares)
        self.seed = int(seed)
        self.lengths = LENGTHS if length is None else (length,)
        self.tokenizer = check_tokenizer(tokenizer)

        held_fixed = "curves of the references held fixed"
        self.spec = MetricSpec(
            f"{show}({pair} {n})",
            False,
            level="corpus",
            resampled=False,
            held_fixed=held_fixed,
        )

    def signature(self) -> str:
        """Return the metric and its parameters as text."""
        noise = "/".join(map(str, self.lengths))
        shares = "/".join(f"{e:g}" for e in self.epsilons)
        tokenizer = signed(self.tokenizer)
        return (
            f"{self.show}|{self.pair}|n:{self.n}|eps:{shares}|len:{noise}"
            f"|seed:{self.seed}|tok:{tokenizer}"
        )

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Curves:
        """Return the curves for the references of the whole task; all quantities of a
        pair and order share them.
        """
        key = (
            "qdisc-curves",
            self.pair,
            self.n,
            self.epsilons,
            self.lengths,
            self.seed,
            self.tokenizer,
        )
        return features.memo(
            key, lambda: self._curves(*self._copies(references, features))
        )

    def collect(
        self, batch: Batch, features: Features, state: Curves
    ) -> Sequence[object]:
        """Return the words of the captions of each example, with the span and the
        curves, which :meth:`number` needs.
        """
        curves = {
            "span": np.array([state.span]),
            "quality": state.quality,
            "diversity": state.diversity,
        }
        return [
            {**words_object(features, ids, batch.n, self.tokenizer), **curves}
            for ids in batch.text_ids
        ]

    def undefined_reason(self, objects: Objects) -> str:
        """Return why the quantity is undefined for a corpus."""
        curves = objects[0]
        corpus = point(self.pair, *sides_of(objects), self.n)
        if np.isnan(corpus.quality):
            return "the texts hold no n-gram of this order"
        ends = [float(end(curves["diversity"])) for end in (np.min, np.max)]
        more = "more" if corpus.diversity > ends[1] else "less"
        return (
            f"the texts are {more} diverse than every noisy copy of the references: "
            f"{corpus.diversity:.4g} beside {ends[0]:.4g} to {ends[1]:.4g}, so that "
            "the curve has no quality at their diversity"
        )

    def number(self, objects: Objects) -> float:
        """Return the quantity; NaN where it is undefined."""
        curves = objects[0]
        q, p = sides_of(objects)
        corpus = point(self.pair, q, p, self.n)

        discrepancies: list[CurveDiscrepancy] = []
        for quality, diversity in zip(curves["quality"], curves["diversity"]):
            try:
                discrepancy = curve_discrepancy(
                    quality, diversity, corpus.quality, corpus.diversity
                )
            except InputError:
                # the corpus is outside this curve, which defines no discrepancy then
                continue
            discrepancies.append(discrepancy)
        if not discrepancies or np.isnan(corpus.quality):
            return float("nan")

        # The paper reports the larger discrepancy of both lengths of noise.
        worst = max(discrepancies, key=lambda item: item.qdisc)
        values = (
            worst.qdisc,
            ratio(worst.qdisc, float(curves["span"][0])),
            worst.self_ratio,
            worst.ref_ratio,
        )
        return float(values[QUANTITIES.index(self.show)])

    def _copies(
        self, references: Sequence[Sequence[str]], features: Features
    ) -> tuple[Words, list[list[Words]]]:
        """Return the references and their noisy copies by length and share;
        all pairs and orders share them.
        """

        def build() -> tuple[Words, list[list[Words]]]:
            ids = features.intern(text for texts in references for text in texts)
            sentences = [
                text.split() for text in tokens_of(features, ids, self.tokenizer)
            ]
            words = sorted({word for sentence in sentences for word in sentence})
            if not words:
                raise InputError("qdisc: the references hold no words")

            vocabulary = Vocabulary()
            copies: list[list[Words]] = []
            for kind, length in enumerate(self.lengths):
                of_length: list[Words] = []
                for k, epsilon in enumerate(self.epsilons):
                    # One generator per copy: adding a share of noise leaves the other
                    # copies as they are.
                    rng = np.random.default_rng([self.seed, kind, k])
                    copy = [
                        draw(sentences, words, epsilon, length, rng) for _ in sentences
                    ]
                    of_length.append(words_of(copy, vocabulary))
                copies.append(of_length)
            return words_of(sentences, vocabulary), copies

        return features.memo(
            ("qdisc-copies", self.epsilons, self.lengths, self.seed, self.tokenizer),
            build,
        )

    def _curves(self, references: Words, copies: list[list[Words]]) -> Curves:
        """Return quality and diversity of the copies for the pair and order of this
        metric.
        """
        points = np.array(
            [[point(self.pair, q, references, self.n) for q in row] for row in copies]
        )
        span = largest_quality(self.pair, references, self.n)
        return Curves(points[:, :, 0], points[:, :, 1], span)
