"""pycocoevalcap's Python scorers called for single pairs, with document frequencies of the task's references."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import numpy as np


class ToolkitCider:
    """CIDEr of pairs with the toolkit's own scorer.

    The scorer takes log N from the number of items in the call, so pairs are given N at a time, N being the number of
    images whose references make the document frequencies; these are computed once.
    """

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        from pycocoevalcap.cider.cider_scorer import CiderScorer

        self.scorer = CiderScorer(n=4, sigma=6.0)
        for texts in references:
            self.scorer.cook_append(None, list(texts))
        self.scorer.compute_doc_freq()
        self.size = len(references)

    def pairs(self, hyp: Sequence[str], ref: Sequence[str]) -> np.ndarray:
        """(N,) scores of ``hyp[i]`` against ``ref[i]`` alone; as many pairs as there are images."""
        if len(hyp) != self.size:
            raise ValueError(f"give {self.size} pairs at a time")
        self.scorer.crefs, self.scorer.ctest = [], []
        for one, other in zip(hyp, ref):
            self.scorer.cook_append(one, [other])
        return np.asarray(self.scorer.compute_cider())


def bleu_items(hyp: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """((4,) corpus, (4, items)) BLEU of the toolkit."""
    from pycocoevalcap.bleu.bleu import Bleu

    with contextlib.redirect_stdout(io.StringIO()):
        corpus, items = Bleu(4).compute_score(*_tables(hyp, refs))
    return np.asarray(corpus), np.asarray(items)


def rouge_items(hyp: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[float, np.ndarray]:
    """(corpus, (items,)) ROUGE-L of the toolkit."""
    from pycocoevalcap.rouge.rouge import Rouge

    corpus, items = Rouge().compute_score(*_tables(hyp, refs))
    return float(corpus), np.asarray(items)


def cider_items(hyp: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[float, np.ndarray]:
    """(corpus, (items,)) CIDEr of the toolkit."""
    from pycocoevalcap.cider.cider import Cider

    corpus, items = Cider().compute_score(*_tables(hyp, refs))
    return float(corpus), np.asarray(items)


def _tables(hyp: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[dict, dict]:
    return {i: list(texts) for i, texts in enumerate(refs)}, {i: [text] for i, text in enumerate(hyp)}
