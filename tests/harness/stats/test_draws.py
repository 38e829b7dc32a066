"""Families of random weight vectors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness.stats.draws import BLOCK, DrawFamily, resampled_sums, weighted_sums


@pytest.mark.equal_bits
@pytest.mark.parametrize("kind", ["resamples", "assignments"])
def test_fewer_draws_are_the_beginning_of_more(kind):
    few, many = (np.concatenate(list(getattr(DrawFamily(20, count, 3), kind)())) for count in (300, 2 * BLOCK + 7))
    assert few.shape == (300, 20)
    np.testing.assert_array_equal(few, many[:300])


def test_resamples_are_multinomial_counts():
    weights = np.concatenate(list(DrawFamily(30, 4000, 0).resamples()))
    assert np.all(weights.sum(axis=1) == 30)
    error = np.sqrt(1 / 4000)
    assert np.allclose(weights.mean(axis=0), 1, atol=5 * error)
    assert np.isclose(weights.var(), 1 - 1 / 30, atol=0.02)


def test_assignments_are_independent_fair_bits():
    bits = np.concatenate(list(DrawFamily(40, 4000, 0).assignments()))
    assert set(np.unique(bits)) == {0.0, 1.0}
    assert np.allclose(bits.mean(axis=0), 0.5, atol=5 * 0.5 / np.sqrt(4000))
    correlation = np.corrcoef(bits.T) - np.eye(40)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


def test_few_examples_are_enumerated():
    family = DrawFamily(5, 100, 0)
    patterns = np.concatenate(list(family.assignments()))
    assert family.exact and family.n_assignments == 32
    assert len({tuple(row) for row in patterns.tolist()}) == 32
    assert not DrawFamily(7, 100, 0).exact


def test_sums_are_one_product():
    columns = np.random.default_rng(0).normal(size=(12, 3))
    family = DrawFamily(12, 300, 1)
    sums = resampled_sums(family, "resamples", columns)
    np.testing.assert_allclose(sums, np.concatenate(list(family.resamples())) @ columns)


def test_seed_and_number_of_examples_change_the_draws():
    def first(n, seed):
        return next(DrawFamily(n, 1, seed).resamples())

    assert not np.array_equal(first(50, 0), first(50, 1))
    np.testing.assert_array_equal(first(50, 0), first(50, 0))


pytestmark = pytest.mark.equal_bits
numbers = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


def exact_sum(weights, column):
    return float(sum((Fraction(w) * Fraction(x) for w, x in zip(weights, column)), start=Fraction(0)))


@given(arrays(np.float64, (7, 3), elements=numbers), st.integers(0, 2**31))
def test_each_sum_is_the_exact_one_rounded_once(columns, seed):
    weights = np.random.default_rng(seed).multinomial(7, np.full(7, 1 / 7), size=4).astype(np.float64)
    expected = [[exact_sum(w, column) for column in columns.T.tolist()] for w in weights.tolist()]
    assert weighted_sums(weights, columns).tolist() == expected


def test_many_examples_are_summed_exactly():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(5000, 2)) * [1e-3, 1e3]
    weights = rng.integers(-1, 2, size=(3, 5000)).astype(np.float64)
    expected = [[exact_sum(w, column) for column in columns.T.tolist()] for w in weights.tolist()]
    assert weighted_sums(weights, columns).tolist() == expected


@pytest.mark.parametrize("examples", [60, 999, 5000])
def test_neighbours_order_and_slices_change_no_bit(examples):
    rng = np.random.default_rng(examples)
    columns = rng.random((examples, 23))
    weights = rng.multinomial(examples, np.full(examples, 1 / examples), size=256).astype(np.float64)
    sums = weighted_sums(weights, columns)
    order = rng.permutation(examples)
    np.testing.assert_array_equal(weighted_sums(weights, columns[:, 5:6]), sums[:, 5:6])
    np.testing.assert_array_equal(weighted_sums(weights[100:103], columns), sums[100:103])
    np.testing.assert_array_equal(weighted_sums(weights[:, order], columns[order]), sums)
    np.testing.assert_array_equal(weighted_sums(weights, np.asfortranarray(columns)), sums)


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
