"""Weighted sums that are rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.contracts import weighted_means, weighted_sums

pytestmark = pytest.mark.equal_bits
numbers = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


def exact_sum(weights, column):
    return float(
        sum(
            (Fraction(w) * Fraction(x) for w, x in zip(weights, column)),
            start=Fraction(0),
        )
    )


@given(arrays(np.float64, (7, 3), elements=numbers), st.integers(0, 2**31))
def test_each_sum_is_the_exact_one_rounded_once(columns, seed):
    weights = (
        np.random.default_rng(seed)
        .multinomial(7, np.full(7, 1 / 7), size=4)
        .astype(np.float64)
    )
    expected = [
        [exact_sum(w, column) for column in columns.T.tolist()]
        for w in weights.tolist()
    ]
    assert weighted_sums(weights, columns).tolist() == expected


def test_many_examples_are_summed_exactly():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(5000, 2)) * [1e-3, 1e3]
    weights = rng.integers(-1, 2, size=(3, 5000)).astype(np.float64)
    expected = [
        [exact_sum(w, column) for column in columns.T.tolist()]
        for w in weights.tolist()
    ]
    assert weighted_sums(weights, columns).tolist() == expected


@pytest.mark.parametrize("examples", [60, 999, 5000])
def test_neighbours_order_and_slices_change_no_bit(examples):
    rng = np.random.default_rng(examples)
    columns = rng.random((examples, 23))
    weights = rng.multinomial(
        examples, np.full(examples, 1 / examples), size=256
    ).astype(np.float64)
    sums = weighted_sums(weights, columns)
    order = rng.permutation(examples)
    np.testing.assert_array_equal(weighted_sums(weights, columns[:, 5:6]), sums[:, 5:6])
    np.testing.assert_array_equal(
        weighted_sums(weights[100:103], columns), sums[100:103]
    )
    np.testing.assert_array_equal(
        weighted_sums(weights[:, order], columns[order]), sums
    )
    np.testing.assert_array_equal(
        weighted_sums(weights, np.asfortranarray(columns)), sums
    )


def test_undefined_columns_leave_the_others_alone():
    columns = np.array([[1.0, np.nan, np.inf], [2.0, 1.0, 1.0]])
    sums = weighted_sums(np.array([[1.0, 1.0], [2.0, 0.0]]), columns)
    assert sums[:, 0].tolist() == [3.0, 2.0]
    assert np.isnan(sums[:, 1]).all()
    assert sums[0, 2] == np.inf


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e300])
def test_very_small_and_large_numbers_are_kept(scale):
    columns = np.array([[1.0], [2.0], [4.0]]) * scale
    assert weighted_sums(np.ones((1, 3)), columns)[0, 0] == 7 * scale


def test_no_examples_sum_to_zero():
    assert weighted_sums(np.zeros((2, 0)), np.zeros((0, 3))).tolist() == [[0.0] * 3] * 2


def test_means_are_the_exact_sums_over_the_weights():
    weights = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    assert weighted_means(weights, np.array([1e16, 0.5, -2.0])).tolist() == [
        (1e16 + 1) / 3,
        -2.0,
    ]
