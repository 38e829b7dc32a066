"""Doors of metrics of events."""

from __future__ import annotations

import pytest

from harness.contracts import EventMatch, MatchesEvents, ScoresThresholds
from harness.registry import resolve


@pytest.mark.parametrize(
    ("parameters", "matches", "thresholds"),
    [
        ({}, True, False),
        ({"annotators": "merged"}, True, False),
        ({"protocol": "activitynet-2018"}, False, True),
        ({"protocol": "vid2seq", "measure": "f1"}, False, False),
        ({"protocol": "vid2seq", "measure": "recall", "seconds": [5]}, False, False),
        ({"protocol": "soda-c"}, False, False),
    ],
)
def test_protocols_have_the_doors_that_they_can_open(parameters, matches, thresholds):
    metric = resolve("metrics", {"dense": parameters})
    assert isinstance(metric, MatchesEvents) is matches
    assert isinstance(metric, ScoresThresholds) is thresholds


def test_a_match_names_both_events():
    match = EventMatch(0, 1, 2, 0.5, 0.4, 0.2)
    assert (match.prediction, match.annotator, match.reference) == (0, 1, 2)
