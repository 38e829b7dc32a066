"""Shares and forms of the triangles of sets against a plain loop."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import forms
from harness_metrics.events.set_triangles import forms_of_ranks, rank_shares_of_sets


def plain_shares(distances, sizes):
    """Return the shares by one triangle after the other."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    shares = np.zeros((3, len(sizes), len(sizes), len(sizes)))
    for a, b, x in product(range(len(distances)), repeat=3):
        i, j, k = owners[[a, b, x]]
        if len({i, j, k}) < 3:
            continue
        inner, others = distances[a, b], sorted([distances[x, a], distances[x, b]])
        fits = [
            inner <= others[0],
            others[0] <= inner <= others[1],
            inner >= others[1],
        ]
        weight = 1 / (sum(fits) * sizes[i] * sizes[j] * sizes[k])
        shares[:, i, j, k] += weight * np.array(fits)
    return shares


def drawn_distances(seed, sizes):
    rng = np.random.default_rng(seed)
    # few different numbers: many ties
    distances = rng.integers(0, 4, size=(sum(sizes), sum(sizes))) / 4
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0)
    return distances


SIZES = st.lists(st.integers(1, 4), min_size=3, max_size=5)


@given(st.integers(0, 1000), SIZES)
def test_shares_equal_those_of_a_plain_loop(seed, sizes):
    distances = drawn_distances(seed, sizes)
    found = rank_shares_of_sets(distances, np.array(sizes))
    assert found == pytest.approx(plain_shares(distances, sizes), abs=1e-12)


@given(st.integers(0, 1000), SIZES, st.data())
def test_forms_sum_the_triangles_between_the_labels(seed, sizes, data):
    shares = plain_shares(drawn_distances(seed, sizes), sizes)
    labels = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    )
    expected = np.zeros(3)
    for i, j, k in product(range(len(sizes)), repeat=3):
        if labels[i] == labels[j] != labels[k]:
            expected += shares[:, i, j, k]
    values = forms.evaluate(forms_of_ranks(shares), labels[None])[:, 0]
    assert values == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 1000), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_over_all_labelings_each_edge_is_the_shortest_as_often(seed, sizes):
    shares = rank_shares_of_sets(drawn_distances(seed, sizes), np.array(sizes))
    values = forms.evaluate(forms_of_ranks(shares), np.eye(3, dtype=bool))
    assert values.sum(axis=1) == pytest.approx([2.0, 2.0, 2.0])
    assert values.sum(axis=0) == pytest.approx([2.0, 2.0, 2.0])
