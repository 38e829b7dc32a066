"""Matching of objects against all assignments by enumeration,
and scores with a small embedding.
"""

from itertools import permutations

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.testing import parametrize_with_checks
from harness_metrics.hallucination.matching import ObjectMatch, match_objects


class Letters:
    """Counts of letters."""

    name = "letters"

    def signature(self):
        return "letters"

    def fit(self, references):
        pass

    def encode(self, texts):
        return np.array(
            [
                [text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
                for text in texts
            ],
            np.float32,
        )


@pytest.mark.slow
@parametrize_with_checks([ObjectMatch(embedding=Letters())])
def test_contract(check):
    check()


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 2), (1, 5)])
def test_the_assignment_has_the_largest_sum(shape):
    similarity = np.random.default_rng(1).uniform(size=shape)
    rows, columns = shape
    small = min(shape)
    large = max(shape)
    square = similarity if rows <= columns else similarity.T
    best = max(
        sum(square[i, j] for i, j in enumerate(choice))
        for choice in permutations(range(large), small)
    )
    values = match_objects(similarity)
    assert values.sum() == pytest.approx(best)
    assert np.count_nonzero(values) == small


def test_objects_without_any_reference_object_have_no_similarity():
    assert match_objects(np.zeros((2, 0))).tolist() == [0.0, 0.0]


def score(candidates, references, **params):
    return harness.metric("object-match", embedding=Letters(), **params)(
        candidates, references
    ).per_example.tolist()


def test_scores():
    assert score([["a dog on a couch"]], [["the couch", "one dog"]]) == [1.0]
    dog = [["a dog beside a zzz"]]
    god = [["a god"]]
    assert score(dog, god) == [0.0]
    assert score(dog, god, aggregate="mean") == [0.5]
    assert np.isnan(score([["red"]], god)).all()
    assert score([["a dog"]], [["green"]]) == [0.0]


def test_parameters():
    with pytest.raises(HarnessError, match="aggregate is 'min'"):
        ObjectMatch(embedding=Letters(), aggregate="min")
    metric = ObjectMatch(embedding=Letters(), aggregate="mean")
    assert (metric.spec.name, metric.signature()) == (
        "object-match(letters,mean)",
        "object-match|mean|rules|letters",
    )
