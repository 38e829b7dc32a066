"""Weighted sentences."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.crnrr.weighted_units import weigh_units
from harness_metrics.words.grams import grams_of, words_of
from harness_metrics.words.keys import Vocabulary
from tests.support.ngram_values import cr_nrr_cnd

RNG = np.random.default_rng(4)


def sentences(count):
    return [RNG.choice(list("abcd"), RNG.integers(1, 7)).tolist() for _ in range(count)]


@pytest.mark.equal_bits
def test_weighted_sentences_equal_repeated_sentences():
    q = sentences(12)
    p = sentences(12)
    weights = RNG.integers(0, 3, (4, 12))
    vocabulary = Vocabulary()
    grams_q, grams_p = grams_of([words_of(q, vocabulary), words_of(p, vocabulary)], 2)
    for row, result in zip(
        weights, weigh_units(grams_q, grams_p, 2, weights, np.ones((4, 12)))
    ):
        repeated = [sentence for sentence, times in zip(q, row) for _ in range(times)]
        expected = cr_nrr_cnd(repeated, p, 2)
        assert result == expected


def test_weights_must_be_whole_numbers():
    grams = grams_of([words_of([["a", "b"]], Vocabulary())], 1)
    with pytest.raises(ValueError, match="whole numbers"):
        weigh_units(grams[0], grams[0], 1, np.array([[0.5]]), np.array([[1.0]]))
