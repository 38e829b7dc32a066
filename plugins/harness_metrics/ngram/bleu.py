"""BLEU-1 to BLEU-4 as the COCO caption toolkit computes them, sentence BLEU of all
pairs, and a distance from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from caption_kernels import TextIndex, exp
from caption_kernels.batches import ngram
from caption_kernels.batches.ngram import ORDERS
from harness.contracts import Batch, Features, MetricSpec, SumMetric
from harness.contracts.parameters import Order, check_arguments
from harness_metrics.tokenisers.text_rows import TextRows, text_rows_of
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed

Smoothing = Literal["toolkit", "add-one"]


def pair_scores(
    index: TextIndex,
    hyp: np.ndarray,
    ref: np.ndarray,
    n: int = ORDERS,
    smoothing: Smoothing = "toolkit",
) -> np.ndarray:
    """Return sentence BLEU-n of all pairs of hypotheses and single references.

    Parameters
    ----------
    index : TextIndex
        Holds the n-grams of the texts.
    hyp, ref : ndarray
        Gram rows of ``index``, shapes (B, n) and (B, m).
    n : int
        Highest order, 1 to 4.
    smoothing : str
        ``toolkit``, the COCO toolkit's constants, or ``add-one`` (Lin & Och 2004).

    Returns
    -------
    ndarray
        Shape (B, n, m), in [0, 1].
    """
    matches = ngram.clip_at_each(index, hyp, ref)
    shape = matches.shape[:3]
    lengths = np.broadcast_to(ngram.row_lengths(index, hyp)[:, :, None], shape)
    others = np.broadcast_to(ngram.row_lengths(index, ref)[:, None, :], shape)
    if smoothing == "toolkit":
        return ngram.bleu(matches, ngram.count_guesses(lengths), lengths, others, n)
    return ngram.add_one_bleu(matches, lengths, others, n)


class Bleu(SumMetric):
    """BLEU-n in [0, 1]; higher is better.

    The score of an example is the mean over its candidates of the toolkit's sentence
    BLEU. The score of a corpus is not the mean of the examples: counts and lengths are
    summed over all candidates of all examples, then BLEU is computed once.

    Parameters
    ----------
    n : int
        Highest n-gram order, 1 to 4; default 4.
    tokenizer : str
        ``ptb`` (default), the words of the COCO toolkit; ``java-ptb``, the same through
        its jar; ``none``, texts are tokenised already. For texts without blanks:
        ``zh``, each Chinese character and the words of other scripts (sacrebleu's
        ``zh``); ``characters``, each character (sacrebleu's ``char``); ``ja``, Japanese
        words by MeCab (sacrebleu's ``ja-mecab``; extra ``mecab``); ``zh-words``,
        Chinese words by jieba (extra ``jieba``). These four keep case and punctuation.

    References
    ----------
    Papineni, Roukos, Ward & Zhu (2002), "BLEU: a Method for Automatic Evaluation of
    Machine Translation"; smoothing constants of the COCO caption toolkit
    (``pycocoevalcap``).
    """

    @check_arguments
    def __init__(self, *, n: Order = ORDERS, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(
            name=f"bleu{n}", higher_is_better=True, bounds=(0.0, 1.0)
        )

    def signature(self) -> str:
        """Return the highest order and the tokeniser as one string."""
        return f"bleu|n:{self.n}|tok:{signed(self.tokenizer)}"

    def stats(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the statistics of each example, shape (B, 11), float64.

        Columns: mean sentence BLEU; then, summed over candidates, 4 matches, 4 numbers
        of n-grams, the length and the closest reference length.
        """
        counts = self._counts(batch, features)
        correct = counts[..., :ORDERS]
        lengths = counts[..., -2]
        closest = counts[..., -1]
        guess = ngram.count_guesses(lengths)
        items = ngram.bleu(correct, guess, lengths, closest, self.n).mean(axis=1)
        columns = [
            items,
            *correct.sum(axis=1).T,
            *guess.sum(axis=1).T,
            lengths.sum(axis=1),
            closest.sum(axis=1),
        ]
        return np.stack(columns, axis=1).astype(np.float64)

    def _counts(self, batch: Batch, features: Features) -> np.ndarray:
        """Return matches per order, length and closest reference length of each
        candidate, shape (B, n, 6), int64.

        BLEU-1 to BLEU-4 share them. Nested sets have counts of their own: matches with
        fewer references cannot be cut from others.
        """

        def count(full_batch: Batch) -> np.ndarray:
            texts = text_rows_of(features, self.tokenizer)
            rows = texts.gram_rows(features, full_batch.text_ids)
            n = full_batch.n
            matches = ngram.clip_at_all(texts.index, rows[:, :n], rows[:, n:])
            lengths = ngram.row_lengths(texts.index, rows)
            closest = ngram.closest_lengths(lengths[:, :n], lengths[:, n:])
            columns = [matches, lengths[:, :n, None], closest[..., None]]
            return np.concatenate(columns, axis=2)

        if batch.parent:
            return count(batch)
        return features.per_batch(("bleu-counts", self.tokenizer), batch, count)

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """Return BLEU (...) of summed n-gram counts and lengths (..., 10)."""
        correct = sums[..., :ORDERS]
        guess = sums[..., ORDERS : 2 * ORDERS]
        return ngram.bleu(correct, guess, sums[..., -2], sums[..., -1], self.n)

    def own_share(self, stats: np.ndarray) -> np.ndarray:
        """Return the share of the orders 1 to n that have a match, shape (B,);
        NaN for an undefined example.

        The geometric mean of the precisions is 0 by its definition where one of them is
        (Papineni et al. 2002, section 2.3). With the constants an order without a match
        has the precision 1e-15 / guesses, or 1e-6 in a text that is too short for it.
        """
        matches = stats[:, 1 : 1 + self.n]
        return np.where(np.isnan(stats[:, 0]), np.nan, (matches > 0).mean(axis=1))

    def details(self, stats: np.ndarray) -> dict[str, object]:
        """Return precisions of the orders 1 to n, brevity penalty and numbers of words
        of candidates and of closest references.

        Without a match of some order the number is made of the toolkit's smoothing
        constants and of counts, which grow with the sets.
        """
        sums = stats[:, 1:].sum(axis=0)
        matches = sums[: self.n]
        guesses = sums[ORDERS : ORDERS + self.n]
        length, closest = sums[-2:].tolist()

        # no words: a penalty of 0 against references that have some
        penalty = float(not closest)
        if length:
            penalty = exp(min(0.0, 1.0 - closest / length))

        out: dict[str, object] = {
            "precisions": (matches / np.maximum(guesses, 1.0)).tolist(),
            "brevity_penalty": penalty,
            "candidate_length": int(length),
            "reference_length": int(closest),
        }
        if not matches.all():
            out["depends_on"] = ["candidates", "references"]
        return out

    def null(
        self, batch: Batch, features: Features, state: object, labels: np.ndarray
    ) -> np.ndarray:
        """Return mean sentence BLEU (B, P) under the relabelings ``labels`` (P,
        N), True = candidate.

        Counts are clipped at the references of each relabeling.
        """
        texts = text_rows_of(features, self.tokenizer)
        rows = texts.gram_rows(features, batch.text_ids)
        return ngram.relabel_bleu(texts.index, rows, labels, self.n)


class Bleu1(Bleu):
    """:class:`Bleu` with ``n`` = 1."""

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        super().__init__(n=1, tokenizer=tokenizer)


class Bleu2(Bleu):
    """:class:`Bleu` with ``n`` = 2."""

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        super().__init__(n=2, tokenizer=tokenizer)


class Bleu3(Bleu):
    """:class:`Bleu` with ``n`` = 3."""

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        super().__init__(n=3, tokenizer=tokenizer)


class Bleu4(Bleu):
    """:class:`Bleu` with ``n`` = 4."""

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        super().__init__(n=4, tokenizer=tokenizer)


class BleuDistance:
    """1 - sentence BLEU-n against one reference, in [0, 1];
    exactly 0 for equal token sequences of any length.

    One is added to matches and guesses above order 1, so that the distance is graded.
    Under the toolkit's smoothing one order without a match makes the product vanish:
    most pairs of captions would be at distance 1, and a text of fewer than four words
    would be far from itself. Not symmetric.

    Parameters
    ----------
    n, tokenizer
        As in :class:`Bleu`.

    References
    ----------
    Lin & Och (2004), "ORANGE: a Method for Evaluating Automatic Evaluation Metrics for
    Machine Translation" (BLEU+1).
    """

    name = "bleu"

    @check_arguments
    def __init__(self, *, n: Order = ORDERS, tokenizer: TokenizerName = "ptb") -> None:
        self.n = n
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        """Return the highest order, the smoothing and the tokeniser as one string."""
        return f"bleu|n:{self.n}|smooth:add-one|tok:{signed(self.tokenizer)}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis."""
        texts = text_rows_of(features, self.tokenizer)
        rows = texts.gram_rows(features, batch.text_ids)
        return 1.0 - pair_scores(texts.index, rows, rows, self.n, "add-one")


@check_arguments
def matrix(
    texts: Sequence[str],
    *,
    n: Order = ORDERS,
    tokenizer: TokenizerName = "ptb",
    smoothing: Smoothing = "toolkit",
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
    own = TextRows(check_tokenizer(tokenizer))
    rows = own.index.gram_rows(own.add(list(texts)))
    return pair_scores(own.index, rows[None, :], rows[None, :], n, smoothing)[0]
