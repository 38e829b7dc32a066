"""Readable Python versions of all kernels: documentation, oracle of the tests, and a
slow engine where nothing is compiled.

The names are those of the extension ``caption_kernels._compiled``.
"""

from __future__ import annotations

from caption_kernels_reference.bleu import (
    bleu_relabel,
    bleu_scores,
    clip_all,
    clip_pairs,
)
from caption_kernels_reference.cider import cider_idf, cider_pairs, cider_repetition
from caption_kernels_reference.math import exp, log, power, sin
from caption_kernels_reference.meteor.lexicon import Lexicon
from caption_kernels_reference.meteor.normaliser import normalise
from caption_kernels_reference.meteor.paraphrases import ParaphraseReader
from caption_kernels_reference.meteor.score import meteor_score
from caption_kernels_reference.meteor.texts import MeteorTexts
from caption_kernels_reference.rouge import best_relabel, lcs_pairs, rouge_relabel
from caption_kernels_reference.spectra import eigenvalues, sum_law
from caption_kernels_reference.stemmer import stem
from caption_kernels_reference.text_index import TextIndex
from caption_kernels_reference.tokenizer import Tokenizer

__all__ = [
    "Lexicon",
    "MeteorTexts",
    "ParaphraseReader",
    "TextIndex",
    "Tokenizer",
    "best_relabel",
    "bleu_relabel",
    "bleu_scores",
    "cider_idf",
    "cider_pairs",
    "cider_repetition",
    "clip_all",
    "clip_pairs",
    "eigenvalues",
    "exp",
    "lcs_pairs",
    "log",
    "meteor_score",
    "normalise",
    "power",
    "rouge_relabel",
    "sin",
    "stem",
    "sum_law",
]
