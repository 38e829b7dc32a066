"""QDisc of a corpus against the curve of noisy copies of its references.

Source: Li et al. (ICML 2020), section 6.2, Figure 2 and Table 2: a model that knows the references by heart is mixed with noise; where
such a mixture is as diverse as a corpus of real text and of higher quality, the pair of measures prefers it to real text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MetricSpec
from harness.errors import HarnessError, InputError, UnknownName, did_you_mean
from harness.plugins.crnrr.counting import Vocabulary
from harness.plugins.crnrr.rows import WordRows
from harness.plugins.discrepancy.corpora import PAIRS, Corpus, corpus_of, largest_quality, point, sides
from harness.plugins.discrepancy.frontier import curve_discrepancy, ratio
from harness.plugins.discrepancy.mixing import draw
from harness.plugins.tokenisers.tokens import check_tokenizer, tokens_of

SHOWN = ("qdisc", "drate", "self-ratio", "ref-ratio")
LENGTHS = (5, "same")
"""The two kinds of noise of the paper; it reports the worse."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Quality and diversity along the noise shares, (kinds of noise, shares); and the span of quality."""

    quality: np.ndarray
    diversity: np.ndarray
    span: float


class QualityDiscrepancy(WordRows):
    """How much more quality than the candidates a noisy copy of the references has at the candidates' diversity.

    pair: ``CR-NRR`` or ``BLEU-NSBLEU``. n: the order. show: ``qdisc``; ``drate`` (over the span of quality: 1 for BLEU, the CR of the best
    single reference for CR); ``self-ratio`` (over the candidates' quality); ``ref-ratio`` (over what the first step of noise costs).
    epsilons: shares of noise, the first two give ref-ratio. length: words of a noise sentence, a number or ``same``; by
    default 5 and ``same`` are both tried and the larger discrepancy is shown. seed: of the noisy copies.

    Of real text, a value at or below 0 is what a sound pair gives. Undefined where the candidates' diversity lies outside
    the curve. The copies are as large as the references: give candidates of the same number.
    """

    list_parameters = ("epsilons",)

    def __init__(
        self,
        *,
        pair: str = "CR-NRR",
        n: int = 2,
        show: str = "qdisc",
        epsilons: Sequence[float] = (0.0, 0.2, 0.4, 0.6),
        length: int | str | None = None,
        seed: int = 0,
        tokenizer: str = "ptb",
    ) -> None:
        for name, given, options in (("pair", pair, PAIRS), ("quantity to show", show, SHOWN)):
            if given not in options:
                raise UnknownName(
                    f"qdisc: no {name} '{given}'{did_you_mean(given, options)}; there are {', '.join(options)}"
                )
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise HarnessError(f"qdisc: n is {n!r}; expected an integer of at least 1")
        shares = [float(x) for x in epsilons]
        if len(shares) < 2 or shares != sorted(set(shares)) or shares[0] < 0 or shares[-1] > 1:
            raise HarnessError(
                f"qdisc: epsilons are {list(epsilons)}; expected two or more ascending shares from 0 to 1"
            )
        if length is not None and length != "same" and (not isinstance(length, int) or length < 1):
            raise HarnessError(f"qdisc: length is {length!r}; expected 'same' or a number of words")
        self.pair, self.n, self.show, self.epsilons, self.seed = pair, n, show, tuple(shares), int(seed)
        self.lengths = LENGTHS if length is None else (length,)
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(f"{show}({pair} {n})", False, level="corpus", shardable=False)

    def signature(self) -> str:
        noise = "/".join(map(str, self.lengths))
        shares = "/".join(f"{e:g}" for e in self.epsilons)
        return f"{self.show}|{self.pair}|n:{self.n}|eps:{shares}|len:{noise}|seed:{self.seed}|tok:{self.tokenizer}"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> Curves:
        """The curves, from the references of the whole task; shared by all quantities of a pair and order."""
        key = ("qdisc-curves", self.pair, self.n, self.epsilons, self.lengths, self.seed, self.tokenizer)
        return features.memo(key, lambda: self._curves(*self._copies(references, features)))

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B, 1 + 2 kinds * shares + d): span, curves, then the captions as numbers; so a row says all that it takes."""
        assert isinstance(state, Curves)
        head = np.concatenate([[state.span], state.quality.ravel(), state.diversity.ravel()])
        rows = super().stats(batch, features, None)
        return np.concatenate([np.broadcast_to(head, (len(rows), len(head))), rows], axis=1)

    def per_example(self, stats: np.ndarray) -> np.ndarray:
        """(B,) NaN: a discrepancy belongs to a corpus."""
        return np.full(len(stats), np.nan)

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if weights is not None:
            rows = np.arange(len(stats))
            return np.array([self.reduce(stats[np.repeat(rows, w.astype(int))]) for w in np.asarray(weights)])
        if not len(stats):
            return float("nan")
        size = len(self.lengths) * len(self.epsilons)
        curves = stats[0, 1 : 1 + 2 * size].reshape(2, len(self.lengths), len(self.epsilons))
        q, p = sides(stats[:, 1 + 2 * size :])
        here = point(self.pair, q, p, self.n)
        found = []
        for quality, diversity in zip(curves[0], curves[1]):
            try:
                found.append(curve_discrepancy(quality, diversity, here.quality, here.diversity))
            except InputError:  # the corpus lies outside this curve: no discrepancy is defined on it
                continue
        if not found or np.isnan(here.quality):
            return float("nan")
        worst = max(found, key=lambda item: item.qdisc)
        values = (worst.qdisc, ratio(worst.qdisc, stats[0, 0]), worst.self_ratio, worst.ref_ratio)
        return float(values[SHOWN.index(self.show)])

    # ------------------------------------------------------------------ the curve
    def _copies(self, references: Sequence[Sequence[str]], features: Features) -> tuple[Corpus, list[list[Corpus]]]:
        """The references, and their noisy copies by kind of noise and share; made once for all pairs and orders."""

        def build() -> tuple[Corpus, list[list[Corpus]]]:
            ids = features.intern(text for own in references for text in own)
            sentences = [text.split() for text in tokens_of(features, ids, self.tokenizer)]
            words = sorted({word for own in sentences for word in own})
            if not words:
                raise InputError("qdisc: the references hold no word")
            vocabulary = Vocabulary()
            copies = []
            for kind, length in enumerate(self.lengths):
                rngs = [np.random.default_rng([self.seed, kind, k]) for k in range(len(self.epsilons))]
                copies.append([
                    corpus_of([draw(sentences, words, e, length, rng) for _ in sentences], vocabulary)  # type: ignore[arg-type]
                    for e, rng in zip(self.epsilons, rngs)
                ])  # fmt: skip
            return corpus_of(sentences, vocabulary), copies

        return features.memo(("qdisc-copies", self.epsilons, self.lengths, self.seed, self.tokenizer), build)

    def _curves(self, references: Corpus, copies: list[list[Corpus]]) -> Curves:
        points = np.array([[point(self.pair, q, references, self.n) for q in row] for row in copies])
        span = largest_quality(self.pair, references, self.n)
        return Curves(points[:, :, 0], points[:, :, 1], span)
