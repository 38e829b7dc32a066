"""BLEU-1 to BLEU-4 as the COCO caption toolkit computes them, sentence BLEU of all pairs, and a distance from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.errors import HarnessError
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.ngram.bleu_formula import SMALL, TINY, toolkit_bleu
from harness.plugins.ngram.index import ORDERS, NgramIndex, index_of, kernels, rows_of
from harness.plugins.tokenisers.tokens import check_tokenizer, tokenize

Smoothing = Literal["toolkit", "add-one"]


def check_order(n: int) -> int:
    """Return the highest n-gram order ``n``; raise :class:`HarnessError` unless it is 1, 2, 3 or 4.

    >>> check_order(4)
    4
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= ORDERS:
        raise HarnessError(f"bleu: n is {n!r}; expected 1, 2, 3 or 4", parameter="n", value=n)
    return n


def _guesses(lengths: np.ndarray) -> np.ndarray:
    """Return the number of n-grams of each order, shape (..., 4), in texts of ``lengths`` (...) words."""
    return np.maximum(lengths[..., None] - np.arange(ORDERS), 0)


def _clipped(index: NgramIndex, hyp: np.ndarray, ref: np.ndarray, *, single: bool) -> np.ndarray:
    """Return clipped matches per order of rows ``hyp`` (B, n) with rows ``ref`` (B, m).

    Shape (B, n, m, 4) against single references, or (B, n, 4) against all m references together.
    """
    kernels()  # raises MissingExtra without numba
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
    """Return, for lengths (B, n), the closest of the reference lengths (B, m), the shorter on ties; shape (B, n)."""
    gap = np.abs(reference_lengths[:, None, :] - lengths[:, :, None])
    best = np.lexsort((np.broadcast_to(reference_lengths[:, None, :], gap.shape), gap))[..., 0]
    return np.take_along_axis(reference_lengths, best, axis=1)


def pair_scores(
    index: NgramIndex, hyp: np.ndarray, ref: np.ndarray, n: int = ORDERS, smoothing: Smoothing = "toolkit"
) -> np.ndarray:
    """Return sentence BLEU-n of all pairs of hypotheses and single references.

    Parameters
    ----------
    index : NgramIndex
        Holds the n-grams of the texts.
    hyp, ref : ndarray
        Rows of ``index``, shapes (B, n) and (B, m).
    n : int
        Highest order, 1 to 4.
    smoothing : str
        ``toolkit``, the COCO toolkit's constants, or ``add-one`` (Lin & Och 2004).

    Returns
    -------
    ndarray
        Shape (B, n, m), in [0, 1].
    """
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
    """BLEU-n in [0, 1]; higher is better.

    The score of an example is the mean over its candidates of the toolkit's sentence BLEU. The score of a corpus is not the
    mean of the examples: counts and lengths are summed over all candidates of all examples, then BLEU is computed once.

    Parameters
    ----------
    n : int
        Highest n-gram order, 1 to 4; default 4.
    tokenizer : str
        ``ptb`` (default), ``java-ptb`` or ``none`` (texts are tokenised already).

    References
    ----------
    Papineni, Roukos, Ward & Zhu (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"; smoothing
    constants of the COCO caption toolkit (``pycocoevalcap``).
    """

    def __init__(self, *, n: int = ORDERS, tokenizer: str = "ptb") -> None:
        self.n = check_order(n)
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(name=f"bleu{n}", higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return the highest order and the tokeniser as one string."""
        return f"bleu|n:{self.n}|tok:{self.tokenizer}"

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the statistics of each example, shape (B, 11), float64.

        Columns: mean sentence BLEU; then, summed over candidates, 4 matches, 4 numbers of n-grams, the length and the
        closest reference length.
        """
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

    @overload
    def reduce(self, stats: np.ndarray) -> float:
        """Return the corpus number of statistics of shape (B, d)."""

    @overload
    def reduce(self, stats: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return one number per weight vector, shape (W,)."""

    def reduce(self, stats: np.ndarray, weights: np.ndarray | None = None) -> float | np.ndarray:
        """Return corpus BLEU of statistics (B, 11), or one value per row of ``weights`` (R, B), shape (R,)."""
        if weights is None:
            return self._of_sums(stats[:, 1:].sum(axis=0)).item() if len(stats) else float("nan")
        return self._of_sums(np.asarray(weights, dtype=np.float64) @ stats[:, 1:])

    def _of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return BLEU (...) of summed statistics (..., 10)."""
        correct, guess = sums[..., :ORDERS], sums[..., ORDERS : 2 * ORDERS]
        return toolkit_bleu(correct, guess, sums[..., -2], sums[..., -1], self.n)

    def null(self, batch: Batch, features: Features, state: object, labels: np.ndarray) -> np.ndarray:
        """Return mean sentence BLEU (B, P) under the relabelings ``labels`` (P, N), True = candidate.

        Counts are clipped at the references of each relabeling.
        """
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
    """Return the references of labels (P, N) as bits, shape (P, W), uint64: bit j of word w is text 64 w + j."""
    padded = np.zeros((len(labels), -(-labels.shape[1] // 64) * 64), dtype=bool)
    padded[:, : labels.shape[1]] = ~labels
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


class Bleu1(Bleu):
    """:class:`Bleu` with ``n`` = 1."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=1, tokenizer=tokenizer)


class Bleu2(Bleu):
    """:class:`Bleu` with ``n`` = 2."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=2, tokenizer=tokenizer)


class Bleu3(Bleu):
    """:class:`Bleu` with ``n`` = 3."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=3, tokenizer=tokenizer)


class Bleu4(Bleu):
    """:class:`Bleu` with ``n`` = 4."""

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        super().__init__(n=4, tokenizer=tokenizer)


class BleuDistance:
    """1 - sentence BLEU-n against one reference, in [0, 1]; exactly 0 for equal token sequences of any length.

    One is added to matches and guesses above order 1, so that the distance is graded. Under the toolkit's smoothing one
    order without a match makes the product vanish: most pairs of captions would be at distance 1, and a text of fewer than
    four words would be far from itself. Not symmetric.

    Parameters
    ----------
    n, tokenizer
        As in :class:`Bleu`.

    References
    ----------
    Lin & Och (2004), "ORANGE: a Method for Evaluating Automatic Evaluation Metrics for Machine Translation" (BLEU+1).
    """

    name = "bleu"

    def __init__(self, *, n: int = ORDERS, tokenizer: str = "ptb") -> None:
        self.n = check_order(n)
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        """Return the highest order, the smoothing and the tokeniser as one string."""
        return f"bleu|n:{self.n}|smooth:add-one|tok:{self.tokenizer}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis."""
        rows = rows_of(features, batch.text_ids, self.tokenizer)
        return 1.0 - pair_scores(index_of(features, self.tokenizer), rows, rows, self.n, "add-one")


def matrix(
    texts: Sequence[str], *, n: int = ORDERS, tokenizer: str = "ptb", smoothing: Smoothing = "toolkit"
) -> np.ndarray:
    """Return sentence BLEU-n of all pairs of texts.

    Parameters
    ----------
    texts : sequence of str
        T texts.
    n, tokenizer
        As in :class:`Bleu`.
    smoothing : str
        As in :func:`pair_scores`.

    Returns
    -------
    ndarray
        Shape (T, T), in [0, 1], rows the hypothesis, columns the single reference.

    Raises
    ------
    HarnessError
        For an unknown order, tokeniser or smoothing.

    Examples
    --------
    >>> matrix(["a dog runs", "a dog"], n=1, tokenizer="none").round(3).tolist()
    [[1.0, 0.667], [0.607, 1.0]]
    """
    if smoothing not in ("toolkit", "add-one"):
        raise HarnessError(f"bleu: smoothing is {smoothing!r}; expected 'toolkit' or 'add-one'", parameter="smoothing")
    index = NgramIndex()
    rows = index.add(tokenize(texts, check_tokenizer(tokenizer)))
    return pair_scores(index, np.broadcast_to(rows, (1, len(rows))), rows[None, :], check_order(n), smoothing)[0]
