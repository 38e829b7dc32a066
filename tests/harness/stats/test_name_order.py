"""The order of names in which resamples are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.name_order import (
    is_in_order,
    name_key,
    order_of_names,
    ranks_of_names,
    restrict_order,
)

NAMES = st.lists(st.text("ab01279 _", max_size=6), max_size=12, unique=True)


@given(NAMES, st.randoms(use_true_random=False))
def test_the_order_is_that_of_the_names_whatever_theirs(names, random):
    shuffled = list(names)
    random.shuffle(shuffled)
    ordered = [
        [given[k] for k in order]
        if (order := order_of_names(given)) is not None
        else given
        for given in (names, shuffled)
    ]
    assert ordered[0] == ordered[1] == sorted(names, key=name_key) and is_in_order(
        ordered[0]
    )
    assert [
        name for _, name in sorted(zip(ranks_of_names(shuffled), shuffled))
    ] == ordered[0]


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["7"],
        ["2", "010", "10", "a", "b2", "b10"],
        [f"video{k}" for k in range(7010, 7020)],
    ],
)
def test_names_in_order_have_no_other(names):
    assert is_in_order(names) and order_of_names(names) is None


def test_the_order_of_a_part_is_that_within_the_whole():
    names = np.array(["10", "9", "a", "1", "b"])
    order = order_of_names(names.tolist())
    assert order is not None
    mask = np.array([True, True, False, True, True])
    restricted = restrict_order(order, mask)
    assert restricted is not None and names[mask][restricted].tolist() == [
        "1",
        "9",
        "10",
        "b",
    ]
    assert restrict_order(None, mask) is None


def test_numbers_of_any_length_are_compared_by_their_size():
    names = ["9" * 5000, "1" + "0" * 5000, "007", "7", "10", "0"]
    assert sorted(names, key=name_key) == [
        "0",
        "007",
        "7",
        "10",
        "9" * 5000,
        "1" + "0" * 5000,
    ]
