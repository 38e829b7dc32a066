"""Metric ``sari``: simplifications against the source sentence and the references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from harness.contracts import Batch, CaptionSet, Features, MeanMetric, MetricSpec
from harness.contracts.parameters import check_arguments
from harness.errors import InputError, require
from harness_metrics.bases.metrics import features_by_example
from harness_metrics.tokenisers.tokens import check_tokenizer, signed, tokenize

# --------------------------------------------------------------------------- statistic
# SARI: the words that a simplification keeps, deletes and adds, against those of the
# references.
#
# Multisets of n-grams: the counts of source and candidate are multiplied by the number
# of references, those of the references are summed.


ORDERS = 4
SariTokenizer = Literal["13a", "intl", "none", "zh", "characters", "ja", "zh-words"]
_UNSPACED = ("zh", "characters", "ja", "zh-words")
"""Tokenisers of the harness for texts without blanks."""
Words = Sequence[str]
Grams = Counter[tuple[str, ...]]


def sari(source: Words, candidate: Words, references: Sequence[Words]) -> float:
    """Return SARI of one sentence, in [0, 1].

    The mean over the orders 1 to 4 of (F of kept + precision of deleted + F of added
    n-grams) / 3, where a ratio without any n-gram is 1.

    Parameters
    ----------
    source, candidate : sequence of str
        Words.
    references : sequence of sequences of str
        Words of each reference, at least one.

    References
    ----------
    Xu et al. 2016, *Optimizing Statistical Machine Translation for Text
    Simplification*, section 4, with the corrections of tensor2tensor (0 / 0 = 1; recall
    of kept n-grams by counts), as the library evaluate has it.

    Examples
    --------
    >>> round(
    ...     sari(
    ...         "about 95 are accepted".split(),
    ...         "about 95 are in".split(),
    ...         ["about 95 are known".split()],
    ...     ),
    ...     4,
    ... )
    0.6667
    """
    total = 0.0
    for order in range(1, ORDERS + 1):
        s, c = (_grams(words, order) for words in (source, candidate))
        r: Grams = sum((_grams(words, order) for words in references), Grams())
        # The references are one multiset of R texts; source and candidate are repeated
        # R times to compare with it.
        for counts in (s, c):
            for gram in counts:
                counts[gram] *= len(references)
        total += (
            _score_retention(s, c, r)
            + _score_deletions(s, c, r)
            + _score_additions(s, c, r)
        ) / 3
    return total / ORDERS


def _grams(words: Words, order: int) -> Grams:
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def _score_retention(s: Grams, c: Grams, r: Grams) -> float:
    """Return the F-score of the n-grams that the candidate keeps."""
    retained = s & c
    right = s & r
    good = retained & r
    precision = (
        sum(good[gram] / retained[gram] for gram in good) / len(retained)
        if retained
        else 1.0
    )
    recall = good.total() / right.total() if right else 1.0
    return _f_score(precision, recall)


def _score_deletions(s: Grams, c: Grams, r: Grams) -> float:
    """Return the precision of the n-grams that the candidate deletes."""
    deleted = s - c
    good = deleted - r
    return (
        sum(good[gram] / deleted[gram] for gram in good) / len(deleted)
        if deleted
        else 1.0
    )


def _score_additions(s: Grams, c: Grams, r: Grams) -> float:
    """Return the F-score of the distinct n-grams that the candidate adds."""
    added = c.keys() - s.keys()
    right = r.keys() - s.keys()
    good = len(added & r.keys())
    return _f_score(
        good / len(added) if added else 1.0, good / len(right) if right else 1.0
    )


def _f_score(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# --------------------------------------------------------------------------- metric


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
        return np.array(
            [
                np.mean(
                    [sari(source, candidate, references) for candidate in candidates]
                )
                for source, (candidates, references) in zip(words, texts)
            ]
        )

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
