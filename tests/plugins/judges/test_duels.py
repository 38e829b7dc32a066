"""Duels: both orders, contradictions, equal captions."""

from __future__ import annotations

import json

import numpy as np

from harness_metrics.judges import prompts
from harness_metrics.judges.duels import CRITERION, Duel, fight, mean_points
from harness_metrics.judges.judge import Judge


def outcomes(model, *pairs):
    return fight(
        Judge(model), [Duel(*pair) for pair in pairs], CRITERION, prompts.ARENA
    )


def test_both_orders_are_asked_and_a_longer_caption_wins(overlap):
    first, second, third = outcomes(
        overlap, ("a big dog", "dog"), ("dog", "a big dog"), ("a dog", "a cat")
    )
    assert [o.points for o in (first, second, third)] == [1.0, 0.0, 0.5]
    assert not any(o.contradicts for o in (first, second, third))
    assert [o.for_first_place for o in (first, second, third)] == [0.5] * 3


def test_a_judge_that_prefers_a_place_gives_ties(scripted):
    outcome = outcomes(scripted(lambda talk: '{"better": "A"}'), ("a dog", "a cat"))[0]
    assert (outcome.points, outcome.for_first_place, outcome.contradicts) == (
        0.5,
        1.0,
        True,
    )


def test_equal_captions_tie_without_a_request(scripted):
    model = scripted(lambda talk: '{"better": "A"}')
    outcome = outcomes(model, ("a dog", "a dog"))[0]
    assert outcome.points == 0.5 and not model.talks


def test_a_duel_with_one_answer_has_no_points(scripted):
    def answer(talk):
        return (
            json.dumps({"better": "A"})
            if 'Caption A:\n"a dog"' in talk[0]["content"]
            else "I cannot say"
        )

    outcome = outcomes(scripted(answer), ("a dog", "a cat"))[0]
    assert (
        np.isnan(outcome.points)
        and np.isnan(outcome.for_first_place)
        and not outcome.contradicts
    )
    assert np.isnan(mean_points([outcome]))
