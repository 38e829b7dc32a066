"""Strata of items by their scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.stats.strata import strata


@given(scores=st.lists(st.integers(-5, 5), max_size=30), k=st.integers(1, 8))
def test_strata_are_disjoint_equal_in_size_and_ascending(scores, k):
    groups = strata([float(score) for score in scores], k)
    assert [len(group) for group in groups] == [len(scores) // k] * k
    members = [item for group in groups for item in group]
    assert len(set(members)) == len(members)
    assert [scores[item] for item in members] == sorted(scores)[: len(members)]


def test_ties_keep_the_order_of_the_items():
    assert strata([1.0, 0.0, 1.0, 0.0], 2) == [[1, 3], [0, 2]]


def test_the_remaining_items_with_the_highest_scores_belong_to_no_stratum():
    assert strata([0.3, 0.1, 0.2, 0.9, 0.5], 2) == [[1, 2], [0, 4]]
    assert strata([0.1], 2) == [[], []]


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_the_number_of_strata_is_a_positive_integer(k):
    with pytest.raises(InputError, match="expected an integer of at least 1"):
        strata([0.1, 0.2], k)


def test_bad_scores_are_reported():
    with pytest.raises(InputError, match="item 1: a score is NaN"):
        strata([0.1, np.nan], 1)
    with pytest.raises(InputError, match=r"found an array of shape \(1, 2\)"):
        strata(np.array([[0.1, 0.2]]), 1)
