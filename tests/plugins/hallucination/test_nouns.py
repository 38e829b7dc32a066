"""Singular forms."""

import pytest

from harness_metrics.hallucination.nouns import singular, word_list, word_table


@pytest.mark.parametrize(
    "plural, expected",
    [
        ("women", "woman"),
        ("benches", "bench"),
        ("couches", "couch"),
        ("skis", "skis"),
        ("ties", "tie"),
        ("vases", "vase"),
        ("glasses", "glasses"),
        ("cups", "cup"),
        ("bus", "bus"),
        ("buses", "bus"),
        ("giraffes", "giraffe"),
        ("berries", "berry"),
        ("knives", "knife"),
        ("horses", "horse"),
        ("sandwiches", "sandwich"),
        ("toothbrushes", "toothbrush"),
        ("suitcases", "suitcase"),
        ("is", "is"),
        ("dress", "dress"),
        ("mice", "mouse"),
        ("potatoes", "potato"),
    ],
)
def test_singular(plural, expected):
    assert singular(plural) == expected
    assert singular(expected) == expected


def test_word_lists():
    assert word_list("copulas") == {
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
    }
    assert word_table("irregular plurals")["mice"] == "mouse"
