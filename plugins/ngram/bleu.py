"""BLEU-1 to BLEU-4 as the COCO toolkit computes them, all pairs of sentence BLEU, and a distance from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.ngram.bleu_formula import SMALL, TINY, toolkit_bleu
from harness.plugins.ngram.index import ORDERS, NgramIndex, index_of, kernels, rows_of
from harness.plugins.tokenisers.tokens import check_tokenizer, tokenize

Smoothing = Literal["toolkit", "add-one"]


def _guesses(lengths: np.ndarray) -> np.ndarray:
    """(..., 4) how many n-grams of each order a text of so many words has."""
    return np.maximum(lengths[..., None] - np.arange(ORDERS), 0)


def _clipped(index: NgramIndex, hyp: np.ndarray, ref: np.ndarray, *, single: bool) -> np.ndarray:
    """Matches per order: (B, n, m, 4) against single references, or (B, n, 4) against all m together."""
    kernels()  # says what to install
    from harness.plugins.ngram import bleu_kernels

    kernel = bleu_kernels.clip_pairs if single else bleu_kernels.clip_multi
    shape = (len(hyp), hyp.shape[1], ref.shape[1], ORDERS) if single else (len(hyp), hyp.shape[1], ORDERS)
    out = np.empty(shape, dtype=np.int64)

    def work(start: int, stop: int) -> None:
        scratch = np.zeros(index.n_grams, dtype=np.int64)
        kernel(hyp[start:stop], ref[start:stop], index.bounds, index.ids, index.counts, scratch, out[start:stop])

    run_slices(work, len(hyp), pairs=hyp.shape[1] * ref.shape[1])
    return out


def _closest(lengths: np.ndarray, reference_lengths: np.ndarray) -> np.ndarray:
    """(B, n) the reference length (of B, m) closest to each length (B, n), the shorter on ties."""
    gap = np.abs(reference_lengths[:, None, :] - lengths[:, :, None])
    best = np.lexsort((np.broadcast_to(reference_lengths[:, None, :], gap.shape), gap))[..., 0]
    return np.take_along_axis(reference_lengths, best, axis=1)


def pair_scores(
    index: NgramIndex, hyp: np.ndarray, ref: np.ndarray, n: int = ORDERS, smoothing: Smoothing = "toolkit"
) -> np.ndarray:
    """(B, n, m) sentence BLEU of rows ``hyp`` (B, n) against single references, rows ``ref`` (B, m)."""
    correct = _clipped(index, hyp, ref, single=True)
    lengths = np.broadcast_to(index.lengths[hyp][:, :, None], correct.shape[:3])
    others = np.broadcast_to(index.lengths[ref][:, None, :], correct.shape[:3])
    if smoothing == "toolkit":
        return toolkit_bleu(correct, _guesses(lengths), lengths, others, n)
    guess = _guesses(lengths)
    product = correct[..., 0] / np.maximum(guess[..., 0], 1)
    for k in range(1, n):
        product = product * ((correct[..., k] + 1) / (guess[..., k] + 1))
    brevity = np.exp(np.minimum(0.0, 1 - others / np.maximum(lengths, 1)))
    return np.where(lengths == 0, others == 0, product ** (1 / n) * brevity)


class Bleu(MeanMetric):
    """BLEU-n (n = 1..4) in [0, 1]; higher is better.

    Of an example: the mean over its candidates of the toolkit's sentence BLEU. Of a corpus: counts and lengths summed over all
    candidates of all examples, then BLEU once, as the toolkit does; not the mean of the examples.
    """

    def __init__(self, *, n: int = ORDERS, tokenizer: str = "ptb") -> None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= ORDERS:
            raise HarnessError(f"bleu: n is 1, 2, 3 or 4; found {n!r}")
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(name=f"bleu{n}", higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        return f"bleu|n:{self.n}|tok:{self.tokenizer}"

    def stats(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """(B, 11): mean sentence BLEU; sums over candidates of 4 matches, 4 guesses, the length, the reference length."""
        index = index_of(features, self.tokenizer)
        rows = rows_of(features, batch.text_ids, self.tokenizer)
        hyp, ref = rows[:, : batch.n], rows[:, batch.n :]
        correct = _clipped(index, hyp, ref, single=False)
        lengths = index.lengths[hyp]
        closest = _closest(lengths, index.lengths[ref])
        guess = _guesses(lengths)
        items = toolkit_bleu(correct, guess, lengths, closest, self.n).mean(axis=1)
        columns = [items, *correct.sum(axis=1).T, *guess.sum(axis=1).T, lengths.sum(axis=1), closest.sum(axis=1)]
        return np.stack(columns, axis=1).astype(np.float64)

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> Any:
        if weights is None:
            return self._of_sums(stats[:, 1:].sum(axis=0)).item() if len(stats) else float("nan")
        return self._of_sums(np.asarray(weights, dtype=np.float64) @ stats[:, 1:])

    def _of_sums(self, sums: np.ndarray) -> np.ndarray:
        correct, guess = sums[..., :ORDERS], sums[..., ORDERS : 2 * ORDERS]
        return toolkit_bleu(correct, guess, sums[..., -2], sums[..., -1], self.n)

    def null(self, batch: Batch, features: Features, state: Any, labels: np.ndarray) -> np.ndarray:
        """(B, P): mean over candidates of multi-reference BLEU, counts clipped at the relabeling's own references."""
        kernels()
        from harness.plugins.ngram import bleu_kernels

        index = index_of(features, self.tokenizer)
        rows = rows_of(features, batch.text_ids, self.tokenizer)
        labels = np.ascontiguousarray(labels, dtype=bool)
        lengths = index.lengths[rows]
        gap = np.abs(lengths[:, None, :] - lengths[:, :, None])
        order = np.lexsort((np.broadcast_to(lengths[:, None, :], gap.shape), gap))
        bits, out = _reference_bits(labels), np.empty((len(batch), len(labels)))

        def work(start: int, stop: int) -> None:
            bleu_kernels.relabel(
                rows[start:stop], labels, bits, order[start:stop], index.bounds, index.ids, index.counts,
                index.lengths, self.n, TINY, SMALL, np.full(index.n_grams, -1, dtype=np.int64), out[start:stop],
            )  # fmt: skip

        run_slices(work, len(batch), pairs=len(labels))
        return out


def _reference_bits(labels: np.ndarray) -> np.ndarray:
    """(P, W) uint64: bit j of word w is set where text 64 w + j is a reference."""
    padded = np.zeros((len(labels), -(-labels.shape[1] // 64) * 64), dtype=bool)
    padded[:, : labels.shape[1]] = ~labels
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class Bleu1(Bleu):
    """BLEU-1 by its own name."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=1, tokenizer=tokenizer)


class Bleu2(Bleu):
    """BLEU-2 by its own name."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=2, tokenizer=tokenizer)


class Bleu3(Bleu):
    """BLEU-3 by its own name."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=3, tokenizer=tokenizer)


class Bleu4(Bleu):
    """BLEU-4 by its own name."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=4, tokenizer=tokenizer)


class BleuDistance:
    """1 - sentence BLEU-n with one added above order 1 (Lin & Och 2004): graded, and exactly 0 for equal texts of any length.

    The toolkit's own smoothing would put nearly all pairs of captions at distance 1, since one missing order makes the product
    vanish, and short texts far from themselves.
    """

    name = "bleu"

    def __init__(self, *, n: int = ORDERS, tokenizer: str = "ptb") -> None:
        self.n = Bleu(n=n).n
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        return f"bleu|n:{self.n}|smooth:add-one|tok:{self.tokenizer}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        rows = rows_of(features, batch.text_ids, self.tokenizer)
        return 1.0 - pair_scores(index_of(features, self.tokenizer), rows, rows, self.n, "add-one")


def matrix(
    texts: Sequence[str], *, n: int = ORDERS, tokenizer: str = "ptb", smoothing: Smoothing = "toolkit"
) -> np.ndarray:
    """(T, T) sentence BLEU-n, rows the hypothesis, columns the single reference; ``smoothing`` is the toolkit's or ``add-one``.

    >>> matrix(["a dog runs", "a dog"], n=1, tokenizer="none").round(3).tolist()
    [[1.0, 0.667], [0.607, 1.0]]
    """
    if smoothing not in ("toolkit", "add-one"):
        raise HarnessError(f"bleu: smoothing is 'toolkit' or 'add-one'; found {smoothing!r}")
    index = NgramIndex()
    rows = index.add(tokenize(texts, check_tokenizer(tokenizer)))
    return pair_scores(index, np.broadcast_to(rows, (1, len(rows))), rows[None, :], Bleu(n=n).n, smoothing)[0]
