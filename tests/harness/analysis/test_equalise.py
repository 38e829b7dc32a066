"""Comparisons on subsets of equal size."""

from __future__ import annotations

import numpy as np
import pytest

from harness.analysis.equalise import equalised_tests
from harness.contracts import CaptionSet
from harness.registry import resolve

WORDS = [f"w{number}" for number in range(400)]


def sets(candidates: int, seed: int, words: int = 400, copies: int = 1) -> list[CaptionSet]:
    """Caption sets of random words; ``copies`` repeats the candidates."""
    rng = np.random.default_rng(seed)
    texts = [[" ".join(rng.choice(WORDS[:words], 6)) for _ in range(candidates)] * copies for _ in range(40)]
    references = [[" ".join(np.random.default_rng(k).choice(WORDS, 6)) for _ in range(3)] for k in range(40)]
    return [CaptionSet(str(k), tuple(c), tuple(r)) for k, (c, r) in enumerate(zip(texts, references))]


@pytest.mark.parametrize("name", ["distinct", "compression-ratio", "vocabulary", "entropy"])
def test_copies_of_the_same_captions_do_not_differ(name):
    tests = equalised_tests(resolve("metrics", name), sets(1, 0), sets(1, 0, copies=10), 100, 0)
    assert tests.reported is not None
    assert tests.reported.difference == 0 and tests.reported.a == tests.reported.b


@pytest.mark.parametrize("name", ["distinct", "vocabulary", {"trm": {"distance": "rouge"}}])
def test_more_captions_of_one_distribution_do_not_differ_and_poorer_ones_do(name):
    metric = resolve("metrics", name)
    same = equalised_tests(metric, sets(2, 1), sets(6, 2), 200, 0).reported
    poorer = equalised_tests(metric, sets(2, 1), sets(6, 2, words=20), 200, 0).reported
    assert same is not None and poorer is not None
    assert same.p_value > 0.05 and same.ci95[0] <= 0 <= same.ci95[1]
    assert poorer.p_value < 0.05 and not poorer.ci95[0] <= 0 <= poorer.ci95[1]


def test_subsets_are_determined_by_the_seed():
    metric = resolve("metrics", "distinct")
    first, again, other = (equalised_tests(metric, sets(2, 1), sets(6, 2), 50, seed).reported for seed in (0, 0, 1))
    assert repr(first) == repr(again) != repr(other)
