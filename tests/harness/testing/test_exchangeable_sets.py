"""Sets of texts with exchangeable labels."""

from __future__ import annotations

from harness.stats import permutation
from harness.testing import exchangeable_sets


def test_the_sets_are_from_one_source():
    sets = exchangeable_sets.small_sets(300)
    assert {(len(item.candidates), len(item.references)) for item in sets} == {(4, 4)}
    assert {
        len(text.split())
        for item in sets
        for text in (*item.candidates, *item.references)
    } == {8}
    words = exchangeable_sets.source_words()
    assert len(words) == len(set(words)) == 2000
    tokens = {
        word for text in exchangeable_sets.DISJOINT_TEXTS for word in text.split()
    }
    assert len(tokens) == 16 and not tokens & set(words)
    labels = permutation.relabelings(4, 4)
    assert [item.candidates[0] for item in exchangeable_sets.relabeled_sets()[:2]] == [
        "amber basalt"
    ] * 2
    assert (
        len({frozenset(item.candidates) for item in exchangeable_sets.relabeled_sets()})
        == len(labels)
        == 70
    )
