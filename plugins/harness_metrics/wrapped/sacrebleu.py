"""chrF and TER through sacrebleu: each candidate against all references of its example."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from harness.contracts import Batch, Features, MeanMetric, MetricSpec
from harness.errors import require


class _Score(Protocol):
    """A sacrebleu score."""

    score: float


class _Scorer(Protocol):
    """A sacrebleu metric."""

    def sentence_score(self, hypothesis: str, references: list[str]) -> _Score:
        """Return the score of one sentence, in percent."""
        ...


_SLOW = "takes milliseconds per example: too slow to score relabeled texts"


class _SentenceMetric(MeanMetric):
    """Mean over candidates of sacrebleu's multi-reference sentence score, divided by 100.

    A subclass sets ``spec`` and the three attributes.
    """

    scorer: _Scorer
    settings: str
    """Parameters as they are in the signature."""
    version: str
    """Version of sacrebleu."""

    def signature(self) -> str:
        """Return the name, the parameters and sacrebleu's version as one string."""
        return f"{self.spec.name}|{self.settings}|sacrebleu:{self.version}"

    def scores(self, batch: Batch, features: Features, state: object) -> np.ndarray:
        """Return the mean sentence score over the candidates of each example, shape (B,)."""
        out = np.empty(len(batch))
        for row, item in enumerate(batch.sets):
            references = list(item.references)
            out[row] = np.mean([self.scorer.sentence_score(text, references).score for text in item.candidates]) / 100.0
        return out


class Chrf(_SentenceMetric):
    """chrF, the F-score of character n-grams, in [0, 1]; higher is better. ``word_order`` = 2 gives chrF++.

    Each candidate is scored against its best reference.

    Parameters
    ----------
    char_order : int
        Highest order of character n-grams; default 6.
    word_order : int
        Highest order of word n-grams; default 0.
    beta : int
        Weight of recall; default 2.
    lowercase : bool
        Convert texts to lower case; default False.

    References
    ----------
    Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """

    def __init__(self, *, char_order: int = 6, word_order: int = 0, beta: int = 2, lowercase: bool = False) -> None:
        sacrebleu = require("sacrebleu", extra="more-text", needed_by="metric 'chrf'")
        self.scorer = sacrebleu.CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase)
        self.version = sacrebleu.__version__
        self.settings = f"nc:{char_order}|nw:{word_order}|beta:{beta}|case:{'lc' if lowercase else 'mixed'}"
        self.spec = MetricSpec("chrf" + "+" * word_order, higher_is_better=True, bounds=(0.0, 1.0), untestable=_SLOW)


class Ter(_SentenceMetric):
    """TER, edits and shifts per word of the mean reference length; lower is better, 0 at best, above 1 possible.

    Each candidate is compared with its nearest reference.

    Parameters
    ----------
    normalized : bool
        Apply sacrebleu's tokenisation of punctuation; default False.
    no_punct : bool
        Remove punctuation; default False.
    case_sensitive : bool
        Distinguish capitals; default False.

    References
    ----------
    Snover, Dorr, Schwartz, Micciulla & Makhoul (2006), "A Study of Translation Edit Rate with Targeted Human Annotation".
    """

    def __init__(self, *, normalized: bool = False, no_punct: bool = False, case_sensitive: bool = False) -> None:
        sacrebleu = require("sacrebleu", extra="more-text", needed_by="metric 'ter'")
        self.scorer = sacrebleu.TER(normalized=normalized, no_punct=no_punct, case_sensitive=case_sensitive)
        self.version = sacrebleu.__version__
        self.settings = f"norm:{normalized}|punct:{not no_punct}|case:{'mixed' if case_sensitive else 'lc'}"
        self.spec = MetricSpec("ter", higher_is_better=False, untestable=_SLOW)
