"""Families of random weight vectors."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.draws import BLOCK, DrawFamily, resampled_sums


@pytest.mark.equal_bits
@pytest.mark.parametrize("kind", ["resamples", "assignments"])
def test_fewer_draws_are_the_beginning_of_more(kind):
    few, many = (
        np.concatenate(list(getattr(DrawFamily(20, count, 3), kind)()))
        for count in (300, 2 * BLOCK + 7)
    )
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
