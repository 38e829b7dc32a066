"""Tolerance of ties: relative to a scale, for single numbers and arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import ties

NUMBERS = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-3)


@given(st.lists(NUMBERS, min_size=1, max_size=200), st.randoms(use_true_random=False))
def test_sums_in_another_order_are_ties(terms, random):
    shuffled = list(terms)
    random.shuffle(shuffled)
    assert abs(sum(terms) - sum(shuffled)) <= ties.tolerance(sum(map(abs, terms)))


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_float32_values_are_ties_of_their_float64_values(values):
    exact = np.array(values)
    rounded = exact.astype(np.float32).astype(np.float64)
    assert (np.abs(exact - rounded) <= ties.tolerance(np.abs(exact), ties.FLOAT32)).all()


def test_magnitude_is_per_example_and_omits_infinities_and_nan():
    values = np.array([[1.0, -2.0, 0.0], [np.inf, -3.0, np.nan], [np.nan, np.nan, np.nan]])
    assert ties.magnitude(values).tolist() == [2.0, 3.0, 0.0]
    assert ties.magnitude(np.empty((2, 0))).tolist() == [0.0, 0.0]
