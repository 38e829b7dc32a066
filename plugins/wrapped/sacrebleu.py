"""chrF and TER through sacrebleu: each candidate against all references of its example."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.errors import require


class _Sacre(MeanMetric):
    """Mean over candidates of sacrebleu's own multi-reference sentence score, divided by 100."""

    scorer: Any
    settings: str
    version: str

    def signature(self) -> str:
        return f"{self.spec.name}|{self.settings}|sacrebleu:{self.version}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        out = np.empty(len(batch))
        for row, item in enumerate(batch.sets):
            references = list(item.references)
            out[row] = np.mean([self.scorer.sentence_score(text, references).score for text in item.candidates]) / 100.0
        return out


class Chrf(_Sacre):
    """chrF (Popović 2015): F-score of character n-grams; chrF++ with ``word_order: 2``. In [0, 1], higher is better.

    Of several references the best one counts, for each candidate alone.
    """

    def __init__(self, *, char_order: int = 6, word_order: int = 0, beta: int = 2, lowercase: bool = False) -> None:
        sacrebleu = require("sacrebleu", extra="more-text", needed_by="metric 'chrf'")
        self.scorer = sacrebleu.CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase)
        self.version = sacrebleu.__version__
        self.settings = f"nc:{char_order}|nw:{word_order}|beta:{beta}|case:{'lc' if lowercase else 'mixed'}"
        self.spec = MetricSpec("chrf" + "+" * word_order, higher_is_better=True, bounds=(0.0, 1.0))


class Ter(_Sacre):
    """TER (Snover et al. 2006): edits with shifts per word of the mean reference length; lower is better, 0 at best.

    Of several references the nearest one counts, for each candidate alone. Values above 1 are possible.
    """

    def __init__(self, *, normalized: bool = False, no_punct: bool = False, case_sensitive: bool = False) -> None:
        sacrebleu = require("sacrebleu", extra="more-text", needed_by="metric 'ter'")
        self.scorer = sacrebleu.TER(normalized=normalized, no_punct=no_punct, case_sensitive=case_sensitive)
        self.version = sacrebleu.__version__
        self.settings = f"norm:{normalized}|punct:{not no_punct}|case:{'mixed' if case_sensitive else 'lc'}"
        self.spec = MetricSpec("ter", higher_is_better=False)
