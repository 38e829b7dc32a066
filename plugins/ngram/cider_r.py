"""Metric ``cider-r``: CIDEr with penalties for repetition and for length relative to the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from harness.contracts import Features, MetricSpec
from harness.plugins.ngram.cider import Cider, CiderScores, Df
from harness.plugins.ngram.cider_formula import SCALE
from harness.plugins.ngram.document_frequency import Frequencies
from harness.plugins.ngram.index import NgramIndex, index_of

REPETITION, LENGTH = 0.8, 0.2
"""Exponents of the two penalties."""


class RobustScores(CiderScores):
    """Scores of pairs of texts by CIDEr-R: clipped cosines as for CIDEr-D, times both penalties.

    Parameters
    ----------
    index : NgramIndex
        Holds the n-grams of the texts.
    frequencies : Frequencies
        Document frequencies of the n-grams of ``index``.
    tokenizer : str
        Name of the tokeniser of the texts in ``index``.
    """

    def __init__(self, index: NgramIndex, frequencies: Frequencies, tokenizer: str) -> None:
        super().__init__(index, frequencies, tokenizer, sigma=math.inf)

    def pairs(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """Return the scores (B, n, m), in [0, 10], of rows ``hyp`` (B, n) against single references ``ref`` (B, m)."""
        lengths = np.maximum(self.index.lengths, 1.0)
        gap = (lengths[hyp][:, :, None] - lengths[ref][:, None, :]) / lengths[ref][:, None, :]
        penalty = np.exp(-(gap**2)) ** LENGTH
        return super().pairs(hyp, ref) * penalty * self._repetition(hyp, ref) ** REPETITION

    def _repetition(self, hyp: np.ndarray, ref: np.ndarray) -> np.ndarray:
        """Return the penalties for repetition, shape (B, n, m)."""
        index = self.index
        counts = {
            row: dict(zip(index.ids[index.bounds[row, 0] : index.bounds[row, 1]].tolist(),
                          index.counts[index.bounds[row, 0] : index.bounds[row, 1]].tolist()))
            for row in np.unique(np.concatenate([hyp.ravel(), ref.ravel()])).tolist()
        }  # fmt: skip
        out = np.empty((len(hyp), hyp.shape[1], ref.shape[1]))
        for b, (rows, others) in enumerate(zip(hyp.tolist(), ref.tolist())):
            for j, other in enumerate(others):
                out[b, :, j] = [repetition_penalty(counts[row], counts[other]) for row in rows]
        return out


def repetition_penalty(hyp: dict[int, int], ref: dict[int, int]) -> float:
    """Return the geometric mean over the words of a text of 1 / (1 + x), in (0, 1]; 1 for a text without words.

    x is the difference of the counts in both texts, for a word that the reference lacks the count minus 1.

    >>> round(repetition_penalty({0: 1, 1: 3}, {0: 1, 1: 1}), 4)  # sqrt(1 * 1/3)
    0.5774
    """
    if not hyp:
        return 1.0
    excess = (abs(count - ref[word]) if word in ref else count - 1 for word, count in hyp.items())
    return math.exp(-sum(math.log1p(x) for x in excess) / len(hyp))


class CiderR(Cider):
    """CIDEr-R, mean over candidates, in [0, 10]; higher is better.

    The clipped cosines of CIDEr-D, times repetition^0.8 and length^0.2 in place of the Gaussian of the difference in length. Lengths are
    compared relative to the reference, so that long descriptions are not penalised more than short ones.

    Parameters
    ----------
    df, tokenizer
        As in :class:`~harness.plugins.ngram.cider.Cider`.

    References
    ----------
    Oliveira dos Santos et al. 2021, *CIDEr-R: Robust Consensus-based Image Description Evaluation*, section 4. Words are those of the
    tokenizer; the authors' program splits words with hyphens.
    """

    name = "cider-r"

    def __init__(self, *, df: Df = "references", tokenizer: str = "ptb") -> None:
        super().__init__(df=df, tokenizer=tokenizer)
        self.spec = MetricSpec(name=self.name, higher_is_better=True, bounds=(0.0, SCALE))

    def signature(self) -> str:
        """Return the source of the document frequencies and the tokeniser: ``cider-r|df:task|tok:ptb``."""
        return f"cider-r|df:{self.source.name}|tok:{self.tokenizer}"

    def fit(self, references: Sequence[Sequence[str]], features: Features) -> CiderScores:
        """Return the pair scores under the document frequencies that ``df`` selects."""
        index = index_of(features, self.tokenizer)
        frequencies = self.source.frequencies(index, self.tokenizer, features, references)
        return RobustScores(index, frequencies, self.tokenizer)

    def finish_fit(self, part: Frequencies | None, features: Features) -> CiderScores:
        """Return the pair scores under the merged document frequencies."""
        index = index_of(features, self.tokenizer)
        counts = self.source.frequencies(index, self.tokenizer, features) if part is None else part
        return RobustScores(index, counts, self.tokenizer)
