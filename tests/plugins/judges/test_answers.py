"""Answers of judges: what counts as a value, and as what the others count."""

from __future__ import annotations

import numpy as np
import pytest

from harness_metrics.judges.answers import (
    COLUMNS,
    Verdict,
    count_answers,
    describe_counts,
    find_object,
    number_in,
    read_choice,
    read_number,
    read_numbers,
    verdict_of,
    verdict_of_text,
)
from harness_metrics.judges.replies import Reply

SCORE = read_number("score", 0, 100)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"score": 85, "reason": "same dog"}', 85.0),
        ('Sure!\n```json\n{"score": 85}\n```\nAnything else?', 85.0),
        ('{"Score": "85/100"}', 85.0),
        ('{"score": "85 %"}', 85.0),
        ('{"score": "62,5"}', 62.5),
        ('I first thought {"score": 20}, but no: {"score": 85}', 85.0),
        ('{"reason": "{braces} and \\"quotes\\"", "score": 0}', 0.0),
        ('{"puntuación": 85, "razón": "el mismo perro"}', 85.0),
        ('{"分数": 85, "理由": "同一只狗"}', 85.0),
        ('{"reason": "a\nline break", "score": 85}', 85.0),
    ],
)
def test_answers_with_a_value(text: str, value: float):
    assert verdict_of(Reply(text), SCORE).value == value


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(""), "empty"),
        (Reply(" \n"), "empty"),
        (Reply("Score: 85"), "invalid"),
        (Reply("La puntuación es 85 de 100."), "invalid"),
        (Reply('{"score": 101}'), "invalid"),
        (Reply('{"score": -1}'), "invalid"),
        (Reply('{"score": true}'), "invalid"),
        (Reply('{"score": null}'), "invalid"),
        (Reply('{"score": NaN}'), "invalid"),
        (Reply('{"score": [85]}'), "invalid"),
        (Reply('{"puntuación": 85, "confianza": 90}'), "invalid"),
        (Reply("[85]"), "invalid"),
        (Reply("{" * 5000), "invalid"),
        (Reply('{"score": 85, "reason": "the sa', "length"), "truncated"),
        (Reply("I'm sorry, but I can't help with that."), "refused"),
        (Reply("Lo siento, no puedo ayudar con eso."), "refused"),
        (Reply("抱歉，我无法回答。"), "refused"),
        (Reply('{"score": 85}', "refused"), "refused"),
        (Reply("", "rejected"), "rejected"),
    ],
)
def test_answers_without_a_value_are_told_apart(reply: Reply, status: str):
    verdict = verdict_of(reply, SCORE)
    assert (verdict.status, verdict.value) == (status, None)


def test_a_complete_object_of_a_truncated_answer_counts():
    assert verdict_of(Reply('{"score": 85} because the', "length"), SCORE).value == 85.0


def test_an_apology_inside_the_reason_is_no_refusal():
    assert (
        verdict_of(
            Reply('{"score": 3, "reason": "I\'m sorry, a cat is no dog"}'), SCORE
        ).status
        == "valid"
    )


def test_objects_are_closed():
    assert find_object("no braces") is None
    assert find_object('{"a": {"b": 1}} {"a": ') == {"a": {"b": 1}}
    assert find_object("{}") == {}


def test_numbers_have_limits():
    assert number_in(5, 1, 5) == 5.0
    assert number_in("4/5", 1, 5) == 4.0
    assert number_in("4/10", 1, 5) is None
    assert number_in(float("inf"), 0, float("inf")) is None


def test_every_criterion_needs_a_grade():
    read = read_numbers(["Truth", "style"], 1, 5)
    assert read({"truth": 4, "STYLE": "5"}) == (4.0, 5.0)
    assert read({"truth": 4}) is None


def test_choices_are_read_in_any_case_and_under_another_key():
    read = read_choice("better", ("A", "B", "tie"))
    assert [
        read(v)
        for v in (
            {"better": "a"},
            {"Better": " TIE "},
            {"mejor": "B", "razón": "porque"},
        )
    ] == ["A", "tie", "B"]
    assert [
        read(v) for v in ({"better": "C"}, {"better": 1}, {"x": "A", "y": "B"}, {})
    ] == [None] * 4


def test_prose_is_valid_unless_it_is_cut_off_empty_or_refused():
    replies = [
        Reply(" A dog. "),
        Reply("A do", "length"),
        Reply(""),
        Reply("I cannot help."),
        Reply("", "rejected"),
    ]
    assert [verdict_of_text(r).status for r in replies] == [
        "valid",
        "truncated",
        "empty",
        "refused",
        "rejected",
    ]
    assert verdict_of_text(replies[0]).value == "A dog."


def test_counts_add_up_over_examples():
    rows = np.stack(
        [
            count_answers(
                [Verdict("valid", 1.0, 2, 100, 10), Verdict("refused", None, 1, 50, 5)]
            ),
            count_answers([Verdict("truncated", None, 3, 150, 30)]),
            count_answers([]),
        ]
    )
    assert rows.shape == (3, len(COLUMNS))

    out = describe_counts(rows, {"input": 10.0, "output": 100.0})
    assert out == {
        "answers": {
            "valid": 1,
            "refused": 1,
            "rejected": 0,
            "truncated": 1,
            "empty": 0,
            "invalid": 0,
        },
        "requests": 6,
        "tokens": {"input": 300, "output": 45},
        "cost": pytest.approx((300 * 10 + 45 * 100) / 1e6),
    }
    assert "cost" not in describe_counts(rows, None)
