"""Relabelings: all of them, once, in a known order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import permutation

SIZES = st.integers(1, 5)


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


def test_chunks_are_parts_of_the_shared_table_while_it_is_small(
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
