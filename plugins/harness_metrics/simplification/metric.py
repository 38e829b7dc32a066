"""Metric ``sari``: simplifications against the source sentence and the references."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, CaptionSet, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import check_arguments
from harness.errors import InputError, require
from harness_metrics.bases.example_values import features_by_example
from harness_metrics.simplification.sari import sari
from harness_metrics.tokenisers.tokens import check_tokenizer, signed, tokenize

SariTokenizer = Literal["13a", "intl", "none", "zh", "characters", "ja", "zh-words"]
_UNSPACED = ("zh", "characters", "ja", "zh-words")
"""Tokenisers of the harness for texts without blanks."""


class Sari(MeanMetric):
    """SARI of the candidates, mean over candidates, in [0, 1]; higher is better.

    It reads the source text of the example.

    Parameters
    ----------
    tokenizer : str
        ``13a`` (default) or ``intl``, tokenisers of sacrebleu; ``none``: texts are
        split at blanks; ``zh``, ``characters``, ``ja`` or ``zh-words`` for texts
        without blanks, as for :class:`~harness_metrics.ngram.bleu.Bleu`.
    lowercase : bool
        Compare lower-cased texts.

    Raises
    ------
    HarnessError
        For an unknown tokenizer.
    MissingExtra
        Without sacrebleu, for its tokenisers; for ``ja`` without MeCab and ``zh-words``
        without jieba.
    InputError
        For an example without a source text.

    References
    ----------
    Xu et al. 2016, *Optimizing Statistical Machine Translation for Text
    Simplification*, section 4.
    """

    @check_arguments
    def __init__(
        self, *, tokenizer: SariTokenizer = "13a", lowercase: bool = True
    ) -> None:
        self.tokenizer = tokenizer
        self.lowercase = bool(lowercase)
        if tokenizer in _UNSPACED:
            check_tokenizer(tokenizer)
        elif tokenizer != "none":
            require("sacrebleu", extra="more-text", needed_by="metric 'sari'")
        slow = "takes a millisecond per caption: too slow to score relabeled texts"
        self.spec = MetricSpec("sari", True, bounds=(0.0, 1.0), untestable=slow)

    def signature(self) -> str:
        """Return ``sari|tok:13a|lower:True``."""
        return f"sari|tok:{signed(self.tokenizer)}|lower:{self.lowercase}"

    def scores(self, batch: Batch, features: Features, state: Any) -> np.ndarray:
        """Return SARI of each example, shape (B,)."""
        sources = features.intern(_source(item) for item in batch.sets)
        words = features.per_text(self.signature(), sources, self._words)
        texts = features_by_example(features, batch, self.signature(), self._words)

        means: list[np.floating] = []
        for source, (candidates, references) in zip(words, texts):
            scores = [sari(source, candidate, references) for candidate in candidates]
            means.append(np.mean(scores))
        return np.array(means)

    def _words(self, texts: list[str]) -> list[list[str]]:
        """Return the words of each text."""
        lowered = [text.lower() if self.lowercase else text for text in texts]
        if self.tokenizer == "none":
            return [text.split() for text in lowered]
        if self.tokenizer in _UNSPACED:
            return [text.split() for text in tokenize(lowered, self.tokenizer)]

        if self.tokenizer == "13a":
            from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a as Tokenizer
        else:
            from sacrebleu.tokenizers.tokenizer_intl import (
                TokenizerV14International as Tokenizer,
            )

        tokens_of = Tokenizer()
        return [tokens_of(text).split() for text in lowered]


def _source(item: CaptionSet) -> str:
    """Return the source text of an example; raise :class:`InputError` without one."""
    if item.source is None:
        raise InputError(
            "metric 'sari' compares with a source text, "
            f"and the example '{item.id}' has none; name its column as "
            "'source' in the columns of the data set"
        )
    return item.source
