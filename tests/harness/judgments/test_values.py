"""Scores, votes, marks."""

import pytest

from harness.errors import InputError
from harness.judgments.values import is_marked, number, preference, ratings, same, scalars, votes_of_mean


def test_numbers():
    assert [number(v) for v in (3, "3.5", True, "false", "x", None, float("nan"), "inf")] == [
        3,
        3.5,
        1,
        0,
        None,
        None,
        None,
        None,
    ]


def test_ratings_and_votes():
    assert ratings([1, None, "3"], "f:1", "votes") == (1.0, 3.0)
    assert ratings(False, "f:1", "label") == (0.0,)
    assert preference([1, 1, -1, 0], "f:1", "votes") == 1.0
    for value in (None, [], [None], ""):
        with pytest.raises(InputError, match="f:1: 'score' is .*expected a human score"):
            ratings(value, "f:1", "score")
    with pytest.raises(InputError, match="'score' holds 'good'"):
        ratings(["good"], "f:1", "score")


def test_votes_of_a_mean():
    assert votes_of_mean((2.667,), 3, "f:1", "m") == (2.0, 3.0, 3.0)
    assert votes_of_mean((4.0,), 3, "f:1", "m") == (4.0, 4.0, 4.0)
    for value in ((2.5,), (1.0, 2.0)):
        with pytest.raises(InputError, match="expected a mean of 3 votes"):
            votes_of_mean(value, 3, "f:1", "m")


def test_marks():
    assert is_marked({"own": True}, "own") and not is_marked({"own": "false"}, "own") and not is_marked({}, "own")
    assert is_marked({"source": 6}, {"source": 6}) and is_marked({"source": "6"}, {"source": 6})
    assert not is_marked({"source": 7}, {"source": 6}) and not is_marked({}, None)
    assert same("en-de", "en-de") and not same("1", "2") and not same(None, 0)


def test_scalars():
    fields = {"kind": "HC", "n": 3, "votes": [1], "caption": "a", "long": "x" * 81, "flag": True}
    assert scalars(fields, ["caption", None]) == {"kind": "HC", "n": 3, "flag": True}
