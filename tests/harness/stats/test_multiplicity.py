"""Adjusted p-values: definitions, order, NaN."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.combine import count_discoveries
from harness.stats.multiplicity import (
    benjamini_hochberg_adjusted,
    cluster_letters,
    holm,
)

P = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12)


@given(P)
def test_holm_rejects_step_down(p):
    adjusted = holm(p)
    order = np.argsort(p, kind="stable")
    rejected = np.zeros(len(p), dtype=bool)
    for k, i in enumerate(order):
        if p[i] > 0.05 / (len(p) - k):
            break
        rejected[i] = True
    assert np.all((adjusted <= 0.05) == rejected) or np.any(
        np.isclose(adjusted, 0.05, rtol=1e-12)
    )
    assert np.all(adjusted >= np.asarray(p)) and np.all(adjusted <= 1)


@given(P)
def test_benjamini_hochberg_agrees_with_the_discoveries(p):
    adjusted = benjamini_hochberg_adjusted(p)
    if not np.any(np.isclose(adjusted, 0.05, rtol=1e-9)):
        assert int(np.sum(adjusted <= 0.05)) == count_discoveries(np.asarray(p), 0.05)
    assert np.all(adjusted <= holm(p) + 1e-15)


def test_nan_stays_and_does_not_count():
    assert np.array_equal(
        holm([0.01, float("nan"), 0.5]), [0.02, np.nan, 0.5], equal_nan=True
    )
    assert np.isnan(benjamini_hochberg_adjusted([float("nan")])).all()


@given(P, st.data())
def test_a_missing_p_value_changes_no_other(p, data):
    """As if the test had not been asked for: of both corrections,
    wherever the missing ones are.
    """
    present = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p)))
    )
    with_gaps = np.where(present, p, np.nan)
    for adjust in (holm, benjamini_hochberg_adjusted):
        adjusted = adjust(with_gaps)
        assert np.isnan(adjusted[~present]).all()
        assert np.array_equal(adjusted[present], adjust(np.array(p)[present]))


@given(st.integers(0, 9), st.data())
def test_systems_share_a_letter_exactly_when_they_are_not_told_apart(k, data):
    pairs = list(itertools.combinations(range(k), 2))
    different = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    letters = cluster_letters(k, different)
    assert len(letters) == k and all(letters)
    for i, j in pairs:
        assert bool(set(letters[i]) & set(letters[j])) == ((i, j) not in different)


def test_the_best_system_has_the_first_letter():
    assert cluster_letters(4, {(0, 2), (0, 3), (1, 3)}) == ["a", "ab", "bc", "c"]
    assert cluster_letters(2, set()) == ["a", "a"]


def test_more_clusters_than_letters_are_separated():
    letters = cluster_letters(30, set(itertools.combinations(range(30), 2)))
    assert letters[0] == "a" and letters[26] == "a1" and len(set(letters)) == 30
