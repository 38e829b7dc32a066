"""The formulas of the paper."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness_metrics.pragmatic import formulas


@given(st.lists(st.integers(0, 6), min_size=3, max_size=3))
def test_scores_are_in_bounds(counts):
    c, extra, z = counts
    c = min(c, z)
    k = c + min(extra, 6 - z)
    for values in (
        formulas.contrastive_efficiency(np.array([c]), np.array([k])),
        formulas.relevance(np.array([c]), np.array([k]), np.array([z])),
    ):
        assert math.isnan(values[0]) or 0 <= values[0] <= 1


def test_needed_features_of_small_cases():
    differs = np.zeros((3, 2, 6), dtype=bool)
    differs[0, 0, 1] = differs[0, 1, 2] = True
    differs[1, :, 4] = True
    assert formulas.features_needed(differs).tolist() == [2, 1, 0]
    assert formulas.features_needed(differs[:, :1]).tolist() == [1, 1, 0]


@given(
    st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=2, max_size=4)
)
def test_needed_features_are_the_smallest_cover(distractors):
    differs = np.array(distractors)
    covers = [
        size
        for size in range(7)
        for subset in combinations(range(6), size)
        if differs[:, subset].any(1).all()
    ]
    assert formulas.features_needed(differs[None])[0] == (covers[0] if covers else 0)


def test_efficiency_of_several_needed_features():
    efficiency = formulas.contrastive_efficiency(
        np.array([2, 3, 0]), np.array([2, 4, 4]), np.array([2, 2, 2])
    )
    assert efficiency[:2].tolist() == [1.0, 0.5] and math.isnan(efficiency[2])


def test_optimal_discriminativity():
    counts = np.array([0, 1, 2])
    assert formulas.optimal_discriminativity(counts).tolist() == [0, 1, 0]
    assert formulas.optimal_discriminativity(counts, 2).tolist() == [0, 0, 1]
    assert formulas.optimal_discriminativity(np.array([0]), 0).tolist() == [0]


def test_discriminativity():
    assert formulas.discriminativity(np.array([0, 1, 3])).tolist() == [0, 1, 1]
