"""Token scores as choices: numbers of examples and options that do not fit are
refused.
"""

import numpy as np
import pytest

from harness.contracts import TokenScores
from harness.errors import InputError
from harness_metrics.choice.layout import Layout, choices_of, lengths, totals


def option(*log_probs, tokens=()):
    return TokenScores(
        np.array(log_probs, dtype=float), np.zeros(len(log_probs), dtype=int), tokens
    )


def test_options_are_the_references_of_an_example():
    scores = [[option(-1, -2), option(-4)], [option(-1), option(-2), option(-3)]]
    seen = choices_of("choice", scores, Layout()).seen
    assert [row.tolist() for row in totals("choice", seen, mean=False)] == [
        [-3.0, -4.0],
        [-1.0, -2.0, -3.0],
    ]
    assert totals("choice", seen, mean=True)[0].tolist() == [-1.5, -4.0]
    assert [row.tolist() for row in lengths(seen)] == [[2, 1], [1, 1, 1]]


def test_options_are_consecutive_examples():
    scores = [[option(-1)], [option(-2)], [option(-3)], [option(-4)]]
    seen = choices_of("choice", scores, Layout(across=2)).seen
    assert [row.tolist() for row in totals("choice", seen, mean=False)] == [
        [-1.0, -2.0],
        [-3.0, -4.0],
    ]


def test_companions_alternate_with_examples():
    scores = [[option(-1)], [option(-10)], [option(-2)], [option(-20)]]
    items = choices_of("choice", scores, Layout(across=2, blind=True))
    assert [row.tolist() for row in totals("choice", items.seen, False)] == [
        [-1.0, -2.0]
    ]
    assert [row.tolist() for row in totals("choice", items.blind, False)] == [
        [-10.0, -20.0]
    ]


PAIR = [option(-1), option(-2)]


@pytest.mark.parametrize(
    "scores, layout, message",
    [
        (
            [PAIR, [option(-1)]],
            Layout(),
            "example 1 has 1 options; expected at least 2",
        ),
        (
            [PAIR, [*PAIR, option(-3)]],
            Layout(options=2),
            "example 1 has 3 options; expected exactly 2",
        ),
        (
            [[*PAIR, option(-3)], PAIR],
            Layout(options=3),
            "example 1 has 2 options; expected exactly 3",
        ),
        (
            [PAIR, [*PAIR, option(-3)]],
            Layout(group=2),
            "example 1 has 3 options; expected exactly 2",
        ),
        (
            [PAIR] * 3,
            Layout(group=2),
            "3 examples do not divide into units of 2 .groups of 2 choices.",
        ),
        ([PAIR] * 3, Layout(blind=True), "a companion without image for each example"),
        ([PAIR] * 2, Layout(across=2), "example 0 has 2 references; expected 1"),
        (
            [PAIR, [*PAIR, option(-3)]],
            Layout(blind=True),
            "choice 0 has 2 options, and 3 without its image",
        ),
    ],
)
def test_unequal_numbers_are_refused(scores, layout, message):
    with pytest.raises(InputError, match=message):
        choices_of("choice", scores, layout)


def test_a_group_of_other_captions_is_refused():
    a, b, c = (option(-1, tokens=(word,)) for word in "abc")
    choices_of("choice", [[a, b], [b, a]], Layout(group=2))
    with pytest.raises(
        InputError, match="choice 1 does not list the captions of its group"
    ):
        choices_of("choice", [[a, b], [b, c]], Layout(group=2))
    with pytest.raises(InputError, match="choice 2 does not list"):
        choices_of("choice", [[a, b], [b, a], [a, c], [b, a]], Layout(group=2))


@pytest.mark.parametrize(
    "bad, message",
    [
        (option(), "has no tokens"),
        (option(-1, 0.5), "token 1: log-probability 0.5"),
        (option(np.nan), "nan"),
    ],
)
def test_invalid_token_scores_are_refused(bad, message):
    with pytest.raises(InputError, match=message):
        totals("choice", [[option(-1), bad]], mean=False)
