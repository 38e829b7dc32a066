"""CR, NRR, CND, BLEU and Self-BLEU of lists of sentences as words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness_metrics.crnrr.ngrams import CrNrr
from harness_metrics.crnrr.weighted_units import weigh_units
from harness_metrics.diversity.corpus_bleu import (
    corpus_bleu_of_words,
    self_bleu_of_words,
)
from harness_metrics.words.grams import grams_of, words_of
from harness_metrics.words.keys import Tokens, Vocabulary


def corpus_bleu(
    candidates: Sequence[Tokens], references: Sequence[Tokens], orders: int = 4
) -> np.ndarray:
    """Return BLEU-1 to BLEU-``orders``, shape (orders,), of the candidates,
    each against all references.
    """
    vocabulary = Vocabulary()
    sides = [words_of(side, vocabulary) for side in (candidates, references)]
    lengths = [
        np.fromiter(map(len, side), np.int64, len(side))
        for side in (candidates, references)
    ]
    return corpus_bleu_of_words(sides, lengths, orders)[0]


def self_bleu(sentences: Sequence[Tokens], orders: int = 4) -> np.ndarray:
    """Return Self-BLEU-1 to Self-BLEU-``orders``, shape (orders,): the mean BLEU of
    each sentence against all others.
    """
    return self_bleu_each(sentences, orders).mean(axis=0)


def self_bleu_each(sentences: Sequence[Tokens], orders: int = 4) -> np.ndarray:
    """Return BLEU of each sentence against all others, ``(S, orders)``;
    raises as :func:`self_bleu`.
    """
    words = words_of(sentences, Vocabulary())
    return self_bleu_of_words(
        words, np.fromiter(map(len, sentences), np.int64, len(sentences)), orders
    )


def cr_nrr_cnd(
    candidates: Sequence[Tokens], references: Sequence[Tokens], n: int
) -> CrNrr:
    """Return CR, NRR and CND of order n of two corpora."""
    vocabulary = Vocabulary()
    sides = [words_of(sentences, vocabulary) for sentences in (candidates, references)]
    q, p = grams_of(sides, n)
    return weigh_units(
        q, p, n, *(np.ones((1, len(side.unit)), dtype=np.int64) for side in sides)
    )[0]
