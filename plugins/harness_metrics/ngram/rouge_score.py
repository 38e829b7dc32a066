"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum of summaries, with the numbers of the
program rouge_score of Google Research.

``rouge`` is another number: the COCO toolkit's ROUGE-L, with more weight on recall,
other words, and maxima over the references.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import check_arguments
from harness.errors import InputError
from harness_metrics.ngram.union_lcs import Summary, union_hits
from harness_metrics.tokenisers.text_rows import text_rows_of
from harness_metrics.tokenisers.tokens import (
    ROUGE_STEMS,
    TokenizerName,
    check_tokenizer,
    function_of,
    signed,
)

RougeTokenizer = Literal["rouge-score", TokenizerName]
Statistic = Literal["fmeasure", "precision", "recall"]


class Shares(NamedTuple):
    """Shares of common words or n-grams of hypotheses and single references, each of
    shape (B, n, m), in [0, 1].
    """

    precision: np.ndarray
    recall: np.ndarray
    fmeasure: np.ndarray


def shares_of(
    hits: np.ndarray, lengths: np.ndarray, reference_lengths: np.ndarray
) -> Shares:
    """Return the shares of ``hits`` (B, n, m) in lengths (B, n) and (B, m);
    those of an empty text are 0.
    """
    precision = hits / np.maximum(lengths, 1)[:, :, None]
    recall = hits / np.maximum(reference_lengths, 1)[:, None, :]
    total = precision + recall
    means = 2 * precision * recall / np.where(total > 0, total, 1.0)
    return Shares(precision, recall, np.where(total > 0, means, 0.0))


class _RougeScore(MeanMetric):
    """Base of the four: pairs of a candidate with each reference,
    of which the one with the largest F counts.

    A subclass counts hits.
    """

    name = "rouge"

    @check_arguments
    def __init__(
        self,
        *,
        stem: bool = False,
        statistic: Statistic = "fmeasure",
        tokenizer: RougeTokenizer = "rouge-score",
    ) -> None:
        if stem and tokenizer != "rouge-score":
            raise InputError(
                f"{self.name}: stem is for the words of rouge_score; "
                f"found tokenizer '{tokenizer}'",
                parameter="stem",
            )

        self.stem = stem
        self.statistic = statistic
        self.tokenizer: RougeTokenizer = tokenizer
        if tokenizer != "rouge-score":
            self.tokenizer = check_tokenizer(tokenizer)
        self.words = ROUGE_STEMS if stem else self.tokenizer
        self.spec = MetricSpec(self.name, higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return name, statistic and words: ``rouge1|fmeasure|tok:rouge-score``, with
        stems ``tok:rouge-score-stems``.
        """
        return f"{self.name}|{self.statistic}|tok:{signed(self.words)}"

    def shares(
        self, batch: Batch, features: Features, hyp: np.ndarray, ref: np.ndarray
    ) -> Shares:
        """Return the shares (B, n, m) of texts with the ids ``hyp`` (B, n) and single
        references ``ref`` (B, m).
        """
        raise NotImplementedError

    def scores(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the mean over the candidates of each example of the statistic with the
        best reference, shape (B,).
        """
        candidates = batch.text_ids[:, : batch.n]
        references = batch.text_ids[:, batch.n :]
        shares = self.shares(batch, features, candidates, references)

        # the first of equals, as in rouge_score
        best = shares.fmeasure.argmax(axis=2)[:, :, None]
        values = getattr(shares, self.statistic)
        values = np.take_along_axis(values, best, axis=2)[:, :, 0]
        return _mean_in_order(values, batch.n)

    def null(
        self, batch: Batch, features: Features, state: object, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        shares = self.shares(batch, features, batch.text_ids, batch.text_ids)
        if self.statistic == "fmeasure":
            return ngram.relabel_best(shares.fmeasure, labels)

        # the best reference is that of the largest F, whatever the statistic
        values = getattr(shares, self.statistic)
        order = np.argsort(-shares.fmeasure, axis=2, kind="stable")
        rows = [_relabel(values[k], order[k], labels) for k in range(len(batch))]
        return np.stack(rows)


def _mean_in_order(values: np.ndarray, n: int) -> np.ndarray:
    """Return the means (...) of the n smallest values (..., N), added one by one in
    increasing order, as the kernels of the null do.
    """
    return np.cumsum(np.sort(values, axis=-1)[..., :n], axis=-1)[..., -1] / n


def _relabel(values: np.ndarray, order: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the means (P,) over candidates of ``values`` (N, N) at the first reference
    of each row of ``order`` (N, N).
    """
    # infinite for a reference, which the sum of the smallest leaves out
    of_candidates = np.full(labels.shape, np.inf)
    for text, references in enumerate(order):
        first = (~labels[:, references]).argmax(axis=1)
        best = values[text, references[first]]
        of_candidates[:, text] = np.where(labels[:, text], best, np.inf)
    return _mean_in_order(of_candidates, int(labels[0].sum()))


class RougeN(_RougeScore):
    """Base of ``rouge1`` and ``rouge2``: common n-grams,
    each as often as both texts have it.
    """

    order = 1
    """Words of an n-gram."""

    def shares(
        self, batch: Batch, features: Features, hyp: np.ndarray, ref: np.ndarray
    ) -> Shares:
        """Return the shares of common n-grams."""
        texts = text_rows_of(features, self.words)
        rows = texts.gram_rows(features, hyp)
        references = texts.gram_rows(features, ref)
        hits = ngram.clip_at_each(texts.index, rows, references)[..., self.order - 1]

        # a text of L words has L - order + 1 n-grams
        lengths = ngram.row_lengths(texts.index, rows) - self.order + 1
        reference_lengths = ngram.row_lengths(texts.index, references) - self.order + 1
        return shares_of(hits, np.maximum(lengths, 0), np.maximum(reference_lengths, 0))


class Rouge1(RougeN):
    """ROUGE-1 of rouge_score: common words, mean over candidates, in [0, 1];
    higher is better.

    Of several references the one with the largest F counts, for all three statistics.

    Parameters
    ----------
    stem : bool
        Compare Porter stems, as ``use_stemmer=True`` of rouge_score.
    statistic : str
        ``fmeasure`` (default), ``precision`` or ``recall``.
    tokenizer : str
        ``rouge-score`` (default), runs of ASCII letters and digits in lower case, or a
        tokeniser of :class:`~harness_metrics.ngram.bleu.Bleu`, such as ``zh``;
        rouge_score drops all letters but a to z.

    Raises
    ------
    InputError
        For ``stem`` with another tokeniser.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries"; numbers of the
    package ``rouge_score`` (``score_multi``).
    """

    name = "rouge1"


class Rouge2(RougeN):
    """ROUGE-2 of rouge_score: common pairs of words that follow each other.

    Parameters as of :class:`Rouge1`.
    """

    name = "rouge2"
    order = 2


class RougeL(_RougeScore):
    """ROUGE-L of rouge_score: the longest common subsequence of both texts.

    Parameters as of :class:`Rouge1`.

    The COCO toolkit's ROUGE-L is :class:`~harness_metrics.ngram.rouge.Rouge`.
    """

    name = "rougeL"

    def shares(
        self, batch: Batch, features: Features, hyp: np.ndarray, ref: np.ndarray
    ) -> Shares:
        """Return the shares of longest common subsequences."""
        texts = text_rows_of(features, self.words)
        rows = texts.gram_rows(features, hyp)
        references = texts.gram_rows(features, ref)
        hits = ngram.common_lengths(texts.index, rows, references)
        return shares_of(
            hits,
            ngram.row_lengths(texts.index, rows),
            ngram.row_lengths(texts.index, references),
        )


class RougeLsum(_RougeScore):
    """ROUGE-Lsum of rouge_score: common subsequences of the sentences of two summaries,
    joined.

    Parameters as of :class:`Rouge1`.

    Each line of a text is a sentence. Texts of one line have the value of
    :class:`RougeL`.
    """

    name = "rougeLsum"

    def shares(
        self, batch: Batch, features: Features, hyp: np.ndarray, ref: np.ndarray
    ) -> Shares:
        """Return the shares of the union of common subsequences."""
        ids = np.unique(np.concatenate([hyp.ravel(), ref.ravel()]))
        key = ("rouge-sentences", self.words)
        values = features.per_text(key, ids, self._summaries)
        summaries = dict(zip(ids.tolist(), values))

        has_sentences = np.zeros(int(ids[-1]) + 1, dtype=bool)
        n_words = np.zeros(len(has_sentences), dtype=np.int64)
        for text, summary in summaries.items():
            has_sentences[text] = len(summary.sentences) > 1
            n_words[text] = summary.n_words

        # Of two texts of one line the union is one subsequence, whose length is
        # compiled.
        texts = text_rows_of(features, self.words)
        rows = texts.gram_rows(features, hyp)
        hits = ngram.common_lengths(texts.index, rows, texts.gram_rows(features, ref))

        needs_union = has_sentences[hyp][:, :, None] | has_sentences[ref][:, None, :]
        for example, first, second in np.argwhere(needs_union).tolist():
            reference = summaries[int(ref[example, second])]
            candidate = summaries[int(hyp[example, first])]
            hits[example, first, second] = union_hits(reference, candidate)
        return shares_of(hits, n_words[hyp], n_words[ref])

    def _summaries(self, texts: list[str]) -> list[Summary]:
        """Return the lines of each text as sentences of words."""
        # All lines are tokenised together, and divided by text afterwards.
        lines = [[line for line in text.split("\n") if line] for text in texts]
        all_lines = [line for text_lines in lines for line in text_lines]
        words = iter(function_of(self.words)(all_lines))

        summaries: list[Summary] = []
        for text_lines in lines:
            sentences = [tuple(next(words).split()) for _ in text_lines]
            summaries.append(Summary(tuple(sentences)))
        return summaries
