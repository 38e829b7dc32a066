"""ROUGE-L as the COCO caption toolkit computes it, ROUGE-L of all pairs, and a distance from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.plugins.compiled.chunks import run_slices
from harness.plugins.ngram.index import kernels
from harness.plugins.ngram.rouge_formula import BETA, f_score
from harness.plugins.tokenisers.tokens import check_tokenizer, tokenize
from harness.plugins.tokenisers.words import WordIndex, word_index_of, word_rows_of


def lcs_lengths(index: WordIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return the lengths (B, n, m) of the longest common subsequences of rows ``hyp`` (B, n) and ``ref`` (B, m)."""
    kernels()  # raises MissingExtra without numba
    from harness.plugins.ngram import rouge_kernels

    out = np.empty((len(hyp), hyp.shape[1], ref.shape[1]), dtype=np.int64)

    def work(start: int, stop: int) -> None:
        scratch = np.zeros(index.n_words, dtype=np.uint64)
        rouge_kernels.lcs_pairs(hyp[start:stop], ref[start:stop], index.words, index.starts, scratch, out[start:stop])

    run_slices(work, len(hyp), pairs=hyp.shape[1] * ref.shape[1])
    return out


def pair_scores(index: WordIndex, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
    """Return ROUGE-L (B, n, m), in [0, 1], of rows ``hyp`` (B, n) against single references ``ref`` (B, m)."""
    lengths = np.diff(index.starts)
    lcs = lcs_lengths(index, hyp, ref)
    return f_score(lcs / lengths[hyp][:, :, None], lcs / lengths[ref][:, None, :])


class Rouge(MeanMetric):
    """ROUGE-L with beta 1.2: mean over candidates, in [0, 1]; higher is better.

    Precision and recall of a candidate are each the largest over references.

    Parameters
    ----------
    tokenizer : str
        ``ptb`` (default), ``java-ptb`` or ``none`` (texts are tokenised already).

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3; maxima over references as in the COCO
    caption toolkit (``pycocoevalcap``).
    """

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(name="rouge", higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return beta and the tokeniser as one string."""
        return f"rouge-l|beta:{BETA}|tok:{self.tokenizer}"

    def scores(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the mean ROUGE-L over the candidates of each example, shape (B,), in [0, 1]."""
        index = word_index_of(features, self.tokenizer)
        rows = word_rows_of(features, batch.text_ids, self.tokenizer)
        lengths = np.diff(index.starts)[rows]
        lcs = lcs_lengths(index, rows[:, : batch.n], rows[:, batch.n :])
        precision = (lcs / lengths[:, : batch.n, None]).max(axis=2)
        recall = (lcs / lengths[:, None, batch.n :]).max(axis=2)
        return f_score(precision, recall).mean(axis=1)

    def null(self, batch: Batch, features: Features, state: object, labels: np.ndarray) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N), True = candidate."""
        from harness.plugins.ngram import rouge_kernels

        index = word_index_of(features, self.tokenizer)
        rows = word_rows_of(features, batch.text_ids, self.tokenizer)
        lengths = np.diff(index.starts)[rows]
        lcs = lcs_lengths(index, rows, rows)
        by_precision = np.argsort(-lcs, axis=2, kind="stable")
        by_recall = np.argsort(-(lcs / lengths[:, None, :]), axis=2, kind="stable")
        labels, out = np.ascontiguousarray(labels, dtype=bool), np.empty((len(batch), len(labels)))

        def work(start: int, stop: int) -> None:
            part = slice(start, stop)
            rouge_kernels.relabel(
                lcs[part], lengths[part], by_precision[part], by_recall[part], labels, BETA, out[part]
            )

        run_slices(work, len(batch), pairs=len(labels))
        return out


class RougeDistance:
    """1 - ROUGE-L of a hypothesis against one reference, in [0, 1]; exactly 0 for equal token sequences. Not symmetric.

    Parameters
    ----------
    tokenizer
        As in :class:`Rouge`.
    """

    name = "rouge"

    def __init__(self, *, tokenizer: str = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        """Return beta and the tokeniser as one string."""
        return f"rouge|beta:{BETA}|tok:{self.tokenizer}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis."""
        rows = word_rows_of(features, batch.text_ids, self.tokenizer)
        scores = pair_scores(word_index_of(features, self.tokenizer), rows, rows)
        distances = np.maximum(1.0 - scores, 0.0)  # F may round to 1 + 2e-16 where P = R = 1
        distances[rows[:, :, None] == rows[:, None, :]] = 0.0
        return distances


def matrix(texts: Sequence[str], *, tokenizer: str = "ptb") -> np.ndarray:
    """Return ROUGE-L of all pairs of texts.

    Parameters
    ----------
    texts : sequence of str
        T texts.
    tokenizer
        As in :class:`Rouge`.

    Returns
    -------
    ndarray
        Shape (T, T), in [0, 1], rows the hypothesis, columns the single reference.

    Examples
    --------
    >>> matrix(["a dog runs", "a dog"], tokenizer="none").round(3).tolist()
    [[1.0, 0.83], [0.772, 1.0]]
    """
    index = WordIndex()
    rows = index.add(tokenize(texts, check_tokenizer(tokenizer)))
    return pair_scores(index, rows[:, None], np.broadcast_to(rows, (len(rows), len(rows))))[:, 0, :]
