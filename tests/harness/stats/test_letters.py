"""Letters of significance clusters."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from harness.stats.letters import cluster_letters


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
