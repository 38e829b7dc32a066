"""Metric ``cider-r``: CIDEr with penalties for repetition and for length relative to
the reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels.batches import ngram
from harness.contracts import Features
from harness_metrics.ngram.cider import Cider, CiderScores, Df
from harness_metrics.tokenisers.tokens import TokenizerName, signed


class RobustScores(CiderScores):
    """Scores of pairs of texts by CIDEr-R: clipped cosines as for CIDEr-D, times
    penalties for repetition and relative length.
    """

    def pairs(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """Return the scores (B, n, m), in [0, 10], of rows ``hyp`` (B, n) against
        single references ``ref`` (B, m).
        """
        return ngram.cider_r(self.texts.index, self.idf, self.unseen, hyp, ref)


class CiderR(Cider):
    """CIDEr-R, mean over candidates, in [0, 10]; higher is better.

    The clipped cosines of CIDEr-D, times repetition^0.8 and length^0.2 in place of the
    Gaussian of the difference in length. Lengths are compared relative to the
    reference, so that long descriptions are not penalised more than short ones.

    Parameters
    ----------
    df, tokenizer
        As in :class:`~harness_metrics.ngram.cider.Cider`.

    References
    ----------
    Oliveira dos Santos et al. 2021, *CIDEr-R: Robust Consensus-based Image Description
    Evaluation*, section 4. Words are those of the tokenizer; the authors' program
    splits words with hyphens.
    """

    name = "cider-r"

    def __init__(
        self, *, df: Df = "references", tokenizer: TokenizerName = "ptb"
    ) -> None:
        super().__init__(df=df, tokenizer=tokenizer)

    def signature(self) -> str:
        """Return the source of the document frequencies and the tokeniser:
        ``cider-r|df:task|tok:ptb``.
        """
        return f"cider-r|df:{self.source.name}|tok:{signed(self.tokenizer)}"

    def fit(
        self, references: Sequence[Sequence[str]], features: Features
    ) -> CiderScores:
        """Return the pair scores under the document frequencies that ``df`` selects."""
        scores = super().fit(references, features)
        return RobustScores(scores.texts, scores.frequencies)
