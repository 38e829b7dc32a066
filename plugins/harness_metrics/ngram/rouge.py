"""ROUGE-L as the COCO caption toolkit computes it, ROUGE-L of all pairs,
and a distance from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels.batches import ngram
from caption_kernels.batches.ngram import BETA
from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness_metrics.tokenisers.text_rows import TextRows, text_rows_of
from harness_metrics.tokenisers.tokens import TokenizerName, check_tokenizer, signed


class Rouge(MeanMetric):
    """ROUGE-L with beta 1.2: mean over candidates, in [0, 1]; higher is better.

    Precision and recall of a candidate are each the largest over references.

    Parameters
    ----------
    tokenizer : str
        As for :class:`~harness_metrics.ngram.bleu.Bleu`.

    References
    ----------
    Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3;
    maxima over references as in the COCO caption toolkit (``pycocoevalcap``).
    """

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)
        self.spec = MetricSpec(name="rouge", higher_is_better=True, bounds=(0.0, 1.0))

    def signature(self) -> str:
        """Return beta and the tokeniser as one string."""
        return f"rouge-l|beta:{BETA}|tok:{signed(self.tokenizer)}"

    def scores(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the mean ROUGE-L over the candidates of each example, shape (B,),
        in [0, 1].
        """
        texts = text_rows_of(features, self.tokenizer)
        rows = texts.rows(features, batch.text_ids)
        scores = ngram.rouge_l(texts.index, rows[:, : batch.n], rows[:, batch.n :])
        return scores.mean(axis=1)

    def null(
        self, batch: Batch, features: Features, state: object, labels: np.ndarray
    ) -> np.ndarray:
        """Return the scores (B, P) under the relabelings ``labels`` (P, N),
        True = candidate.
        """
        texts = text_rows_of(features, self.tokenizer)
        rows = texts.rows(features, batch.text_ids)
        return ngram.relabel_rouge(texts.index, rows, labels)


class RougeDistance:
    """1 - ROUGE-L of a hypothesis against one reference, in [0, 1];
    exactly 0 for equal token sequences.

    Not symmetric.

    Parameters
    ----------
    tokenizer
        As in :class:`Rouge`.
    """

    name = "rouge"

    def __init__(self, *, tokenizer: TokenizerName = "ptb") -> None:
        self.tokenizer = check_tokenizer(tokenizer)

    def signature(self) -> str:
        """Return beta and the tokeniser as one string."""
        return f"rouge|beta:{BETA}|tok:{signed(self.tokenizer)}"

    def matrices(self, batch: Batch, features: Features) -> np.ndarray:
        """Return the distances (B, N, N) of all pairs, rows the hypothesis."""
        texts = text_rows_of(features, self.tokenizer)
        rows = texts.rows(features, batch.text_ids)
        scores = ngram.rouge_l_pairs(texts.index, rows, rows)
        # F may round to 1 + 2e-16 where P = R = 1
        distances = np.maximum(1.0 - scores, 0.0)
        distances[rows[:, :, None] == rows[:, None, :]] = 0.0
        return distances


def matrix(texts: Sequence[str], *, tokenizer: TokenizerName = "ptb") -> np.ndarray:
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
    own = TextRows(check_tokenizer(tokenizer))
    rows = own.add(list(texts))
    references = np.broadcast_to(rows, (len(rows), len(rows)))
    return ngram.rouge_l_pairs(own.index, rows[:, None], references)[:, 0, :]
