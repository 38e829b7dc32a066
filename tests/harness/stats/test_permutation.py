"""Relabelings: all of them, once, in a known order; p-values from them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import permutation

SIZES = st.integers(1, 5)
UNITS = st.integers(-12, 12).map(lambda exponent: 10.0**exponent)


@given(SIZES, SIZES)
def test_relabelings_are_all_combinations_in_order_identity_first(n, m):
    got = permutation.relabelings(n, m)
    wanted = np.zeros_like(got)
    for row, chosen in enumerate(itertools.combinations(range(n + m), n)):
        wanted[row, list(chosen)] = True
    assert got.dtype == bool
    assert np.array_equal(got, wanted)
    assert got[0].tolist() == [True] * n + [False] * m


def test_ten_plus_ten_is_enumerated():
    table = permutation.relabelings(10, 10)
    assert table.shape == (184_756, 20)
    assert (table.sum(axis=1) == 10).all()
    assert len(np.unique(np.packbits(table, axis=1), axis=0)) == 184_756


def test_table_is_shared_and_read_only():
    table = permutation.relabelings(4, 3)
    assert permutation.relabelings(4, 3) is table
    with pytest.raises(ValueError):
        table[0, 0] = False


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_chunks_concatenate_to_the_table(size, monkeypatch):
    wanted = permutation.relabelings(5, 4)
    assert np.array_equal(np.concatenate(list(permutation.chunks(5, 4, size))), wanted)
    monkeypatch.setattr(permutation, "_SHARED_BYTES", 0)
    assert np.array_equal(np.concatenate(list(permutation.chunks(5, 4, size))), wanted)


def test_chunks_are_parts_of_the_shared_table_while_it_is_small_and_the_others_are_made_one_by_one(
    monkeypatch,
):
    table = permutation.relabelings(5, 4)
    monkeypatch.setattr(permutation, "_SHARED_BYTES", table.nbytes)
    assert all(np.shares_memory(chunk, table) for chunk in permutation.chunks(5, 4, 50))
    monkeypatch.setattr(permutation, "_SHARED_BYTES", table.nbytes - 1)
    assert not any(
        np.shares_memory(chunk, table) for chunk in permutation.chunks(5, 4, 50)
    )
    assert (
        not np.shares_memory(permutation.relabelings(5, 4), table)
        and permutation.relabelings(5, 4).flags.writeable
    )
    chunks = permutation.chunks(30, 30, 2)  # 1.2e17 relabelings
    assert [
        np.flatnonzero(row).tolist()[-1] for row in (*next(chunks), *next(chunks))
    ] == [29, 30, 31, 32]


def test_unrank_far_into_a_space_that_nobody_enumerates():
    first, last = permutation.unrank(
        np.array([0, permutation.count(30, 30) - 1]), 30, 30
    )
    assert first.tolist() == [True] * 30 + [False] * 30
    assert last.tolist() == [False] * 30 + [True] * 30


def test_unrank_where_most_relabelings_begin_with_a_candidate():
    # C(71, 47) of the C(72, 48) relabelings, more than 2 ** 62 of fewer than 2 ** 63,
    # have a candidate first.
    n, m = 48, 24
    begins = permutation.count(n - 1, m)
    assert 2**62 < begins < permutation.count(n, m) < 2**63
    labels = permutation.unrank(
        np.array([begins - 1, begins, permutation.count(n, m) - 1]), n, m
    )
    assert labels.sum(axis=1).tolist() == [n] * 3
    assert labels[0].tolist() == [True] + [False] * m + [True] * (n - 1)
    assert labels[1].tolist() == [False] + [True] * n + [False] * (m - 1)
    assert labels[2].tolist() == [False] * m + [True] * n


@pytest.mark.parametrize("n,m", [(0, 3), (3, 0)])
def test_an_empty_sample_is_an_error(n, m):
    with pytest.raises(ValueError, match="n >= 1 candidates and m >= 1 references"):
        permutation.count(n, m)


def test_draws_are_seeded_and_uniform():
    labels = permutation.draws(3, 2, 20_000, seed=1)
    assert (labels.sum(axis=1) == 3).all()
    assert np.array_equal(labels, permutation.draws(3, 2, 20_000, seed=1))
    assert not np.array_equal(labels, permutation.draws(3, 2, 20_000, seed=2))
    counts = np.unique(labels, axis=0, return_counts=True)[1]
    assert len(counts) == 10
    # each of 10 relabelings is expected 2000 times, standard deviation 42
    assert np.abs(counts - 2000).max() < 200


def test_plan_falls_to_monte_carlo_beyond_the_budget_and_says_so():
    exact = permutation.plan(10, 10)
    assert (exact.method, exact.relabelings, exact.note) == ("exact", 184_756, "")
    assert exact.floor == 1 / 184_756
    beyond = permutation.plan(10, 15, method="exact", draws=999)
    assert (beyond.method, beyond.relabelings, beyond.floor) == (
        "monte-carlo",
        999,
        1 / 1000,
    )
    assert "3,268,760 relabelings, beyond the budget of 200,000" in beyond.note
    asked = permutation.plan(3, 3, method="monte-carlo")
    assert (asked.method, asked.note, asked.seed) == ("monte-carlo", "", 0)
    with pytest.raises(ValueError, match="method is exact, monte-carlo or auto"):
        permutation.plan(3, 3, method="exakt")


def test_p_values_count_the_observed_one_and_ties():
    null = np.array([[2.0, 1.0, 2.0 - 1e-9, 3.0]])
    upper = permutation.p_values(
        np.array([2.0]), [null[:, :2], null[:, 2:]], "upper", "exact"
    )
    lower = permutation.p_values(np.array([2.0]), [null], "lower", "exact")
    drawn = permutation.p_values(np.array([9.0]), [null], "upper", "monte-carlo")
    assert upper.tolist() == [0.75]
    assert lower.tolist() == [0.75]
    assert drawn.tolist() == [0.2]


def test_p_value_of_an_undefined_score_is_undefined_and_an_undefined_null_never_helps():
    null = np.array([[1.0, np.nan], [1.0, np.nan]])
    p = permutation.p_values(np.array([np.nan, 2.0]), [null], "upper", "exact")
    assert np.isnan(p[0])
    assert p[1] == 0.5


@given(
    st.integers(0, 10**6), UNITS, st.sampled_from(["upper", "lower"]), st.integers(0, 4)
)
def test_p_values_do_not_depend_on_the_unit(seed, unit, tail, levels):
    rng = np.random.default_rng(seed)
    null = (
        rng.integers(-levels, levels + 1, (3, 400)) / 7
        if levels
        else rng.normal(size=(3, 400))
    )
    null *= 1 + 1e-15 * rng.normal(size=null.shape)  # rounding errors of equal values
    p = permutation.p_values(null[:, 0], [null], tail, "exact")
    scaled = null * unit
    assert np.array_equal(
        permutation.p_values(scaled[:, 0], [scaled], tail, "exact"), p
    )


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_values_that_are_zero_up_to_rounding_are_ties(unit):
    null = np.array([[3e-17, 0.0, -2e-17, 0.5]]) * unit
    assert permutation.p_values(null[:, 0], [null], "upper", "exact").tolist() == [1.0]
    assert permutation.p_values(null[:, 0], [null], "lower", "exact").tolist() == [0.75]


@pytest.mark.parametrize("size", [1, 7, 100, 256, 1000])
def test_division_into_chunks_changes_no_p_value(size):
    rng = np.random.default_rng(0)
    null = rng.integers(0, 5, (4, 600)) + 1e-16 * rng.normal(size=(4, 600))
    null[:, 500] = 1e9  # beyond the values that set the scale
    parts = [null[:, start : start + size] for start in range(0, 600, size)]
    expected = permutation.p_values(null[:, 0], [null], "upper", "exact")
    assert np.array_equal(
        permutation.p_values(null[:, 0], iter(parts), "upper", "exact"), expected
    )


def test_infinite_values_do_not_make_everything_a_tie():
    null = np.array([[1.0, np.inf, 0.5, -np.inf], [np.inf, 0.0, 1.0, 2.0]])
    assert permutation.p_values(null[:, 0], [null], "upper", "exact").tolist() == [
        0.5,
        0.25,
    ]


def test_a_tolerance_replaces_the_default():
    null = np.array([[1.0, 0.9, 0.5]])
    p = permutation.p_values(
        null[:, 0], [null], "upper", "exact", tolerance=np.array([0.2])
    )
    assert p.tolist() == [2 / 3]


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_the_scale_is_read_from_the_same_values_whatever_the_chunks(size):
    null = np.arange(6 * 2000.0).reshape(6, 2000)
    chunks = iter([null[:, k : k + size] for k in range(0, 2000, size)])
    head, every = permutation._with_head(chunks)
    assert np.array_equal(
        np.concatenate(head, axis=1), null[:, : permutation.SCALE_VALUES]
    )
    assert np.array_equal(np.concatenate(list(every), axis=1), null)
