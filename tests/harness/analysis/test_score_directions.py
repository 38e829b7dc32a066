"""The direction that the name of a score has."""

from __future__ import annotations

import pytest

from harness.analysis.score_directions import COSTS, Direction, direction_of_name


@pytest.mark.parametrize(
    "name",
    [
        *sorted(COSTS),
        "WER",
        "Word-Perplexity",
        "asr/wer",
        "wer/mean",
        "wer/flexible-extract",
    ],
)
def test_known_costs(name):
    assert direction_of_name(name) == Direction(False, "a known cost")


@pytest.mark.parametrize(
    "name",
    [
        "acc",
        "exact_match/strict-match",
        "werewolf",
        "characters",
        "error_free",
        "glossary",
        "letter",
        "closs",
    ],
)
def test_other_names_are_larger_is_better(name):
    assert (
        direction_of_name(name) == Direction(True) and not direction_of_name(name).note
    )


@pytest.mark.parametrize(
    "name",
    [
        "edit_distance",
        "mean_error",
        "Error",
        "num_errors",
        "judge/Distance",
        "test_wer",
        "1-wer",
        "eval loss",
    ],
)
def test_names_that_say_neither(name):
    assert direction_of_name(name).higher_is_better is None
