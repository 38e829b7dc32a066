"""Scorers of pycocoevalcap for items and for single pairs,
with document frequencies of the task's references.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import numpy as np


class ToolkitCider:
    """CIDEr of single pairs with the scorer of the toolkit.

    The scorer takes log N from the number of items in the call. Pairs are therefore
    scored N at a time, where N is the number of images whose references define the
    document frequencies; these are computed once.
    """

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        from pycocoevalcap.cider.cider_scorer import CiderScorer

        self.scorer = CiderScorer(n=4, sigma=6.0)
        for texts in references:
            self.scorer.cook_append(None, list(texts))
        self.scorer.compute_doc_freq()
        self.size = len(references)

    def pairs(self, hyp: Sequence[str], ref: Sequence[str]) -> np.ndarray:
        """Return the scores (N,) of ``hyp[i]`` against ``ref[i]``; raise
        :class:`ValueError` unless there are N pairs.
        """
        if len(hyp) != self.size:
            raise ValueError(f"found {len(hyp)} pairs; expected {self.size}")
        self.scorer.crefs = []
        self.scorer.ctest = []
        for one, other in zip(hyp, ref):
            self.scorer.cook_append(one, [other])
        return np.asarray(self.scorer.compute_cider())


def bleu_items(
    hyp: Sequence[str], refs: Sequence[Sequence[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return BLEU-1..4 of the toolkit: corpus (4,) and items (4, B)."""
    from pycocoevalcap.bleu.bleu import Bleu

    with contextlib.redirect_stdout(io.StringIO()):
        corpus, items = Bleu(4).compute_score(*_tables(hyp, refs))
    return np.asarray(corpus), np.asarray(items)


def rouge_items(
    hyp: Sequence[str], refs: Sequence[Sequence[str]]
) -> tuple[float, np.ndarray]:
    """Return ROUGE-L of the toolkit: corpus and items (B,)."""
    from pycocoevalcap.rouge.rouge import Rouge

    corpus, items = Rouge().compute_score(*_tables(hyp, refs))
    return float(corpus), np.asarray(items)


def cider_items(
    hyp: Sequence[str], refs: Sequence[Sequence[str]]
) -> tuple[float, np.ndarray]:
    """Return CIDEr of the toolkit: corpus and items (B,)."""
    from pycocoevalcap.cider.cider import Cider

    corpus, items = Cider().compute_score(*_tables(hyp, refs))
    return float(corpus), np.asarray(items)


def _tables(hyp: Sequence[str], refs: Sequence[Sequence[str]]) -> tuple[dict, dict]:
    return {i: list(texts) for i, texts in enumerate(refs)}, {
        i: [text] for i, text in enumerate(hyp)
    }
