"""Counts of n-grams by weighted unit."""

from __future__ import annotations

from harness_metrics.words.grams import grams_of, per_unit, words_of
from harness_metrics.words.keys import Vocabulary


def test_sums_per_unit():
    (grams,) = grams_of([words_of([["a", "a", "b"], ["a"], []], Vocabulary())], 1)
    totals, within, squares = per_unit(grams, 3)
    assert (totals.tolist(), within.tolist(), squares.tolist()) == (
        [3, 1, 0],
        [5, 1, 0],
        [9, 1, 0],
    )
