"""Metrics of NLTK with the signatures of caption_kernels_reference.certify."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from nltk.stem.snowball import EnglishStemmer
from nltk.translate.bleu_score import corpus_bleu

warnings.filterwarnings("ignore", category=UserWarning)  # no match of an order


def bleu(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return BLEU-1 to BLEU-4 of the corpus."""
    hypotheses = [text.split() for text in candidates]
    lists = [[text.split() for text in texts] for texts in references]
    return [
        float(corpus_bleu(lists, hypotheses, weights=(1 / order,) * order))
        for order in range(1, 5)
    ]


def stem(words: Sequence[str]) -> list[str]:
    """Return stems."""
    stemmer = EnglishStemmer()
    return [stemmer.stem(word) for word in words]
