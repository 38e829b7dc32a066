"""Choices from generated answers: how an answer is read, the order of the options,
and models that fail.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example, Failure, Generation
from harness.errors import HarnessError, InputError
from harness_models.wrappers.answers import GeneratedAnswers, read_answer

CAPTIONS = ["a dog bites a man", "a man bites a dog"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("A", 0),
        ("b", 1),
        ("B.", 1),
        ("(B)", 1),
        ("**A**", 0),
        ("A: it bites", 0),
        ("A\nbecause", 0),
        ("The answer is B.", 1),
        ("Answer: A", 0),
        ("The correct option is (B)", 1),
        ("Option A", 0),
        ("a dog bites a man", 0),
        ("It is “A man bites a dog.”", 1),
        ("A man bites a dog", 1),
        ("A dog", None),
        ("C", None),
        ("A or B", None),
        ("", None),
        ("Both a dog bites a man and a man bites a dog", None),
        ("I cannot see the image.", None),
    ],
)
def test_letters(text, expected):
    assert read_answer(text, "AB", CAPTIONS) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("yes", 0),
        ("Yes, there is.", 0),
        ("No", 1),
        ("**no**.", 1),
        ("There is no dog.", 1),
        ("The answer is: yes", 0),
        ("I do not know", None),
        ("yesterday", None),
        ("I can say neither yes nor no", None),
        ("No. Yes.", 1),
    ],
)
def test_words(text, expected):
    assert read_answer(text, ["yes", "no"], ["yes", "no"]) == expected


class Model:
    """Answers by a function of the question."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def fingerprint(self):
        return "model"

    def generate(self, examples, decoding, seeds):
        assert (
            decoding.candidates == 1
            and decoding.max_length == 16
            and decoding.strategy == "greedy"
        )
        for example in examples:
            self.asked.append(example)
            yield self.answer(example)


def test_the_correct_option_has_no_fixed_place():
    model = Model(lambda example: ("A",))
    adapter = GeneratedAnswers(model=model)
    examples = [
        Example(f"e{k}", tuple(CAPTIONS), media="x.png", meta={"kind": "a"})
        for k in range(200)
    ]
    scored = list(adapter.score_references(examples))
    chosen = [np.isfinite([scores.log_probs.sum() for scores in row]) for row in scored]
    assert (
        all(row.sum() == 1 for row in chosen)
        and 70 < sum(row[0] for row in chosen) < 130
    )
    first = model.asked[0]
    assert (
        first.source.splitlines()[0] == "Which caption describes the image?"
        and first.media == "x.png"
        and first.meta == {"kind": "a"}
    )
    assert {line[:2] for line in first.source.splitlines()[1:3]} == {"A.", "B."}
    again = list(adapter.score_references(examples[::-1]))[::-1]
    assert [[s.log_probs.tolist() for s in row] for row in again] == [
        [s.log_probs.tolist() for s in row] for row in scored
    ]
    assert (
        scored[0][0].tokens == tuple(CAPTIONS[0].split())
        and "letter" in adapter.fingerprint()
    )


def test_unread_answers_and_failures():
    adapter = GeneratedAnswers(
        model=Model(lambda example: Generation(("maybe",))),
        by="text",
        prompt="{source} {options}? {kind}",
    )
    example = Example("e", ("yes", "no"), source="Is it", meta={"kind": "a"})
    (row,) = adapter.score_references([example])
    assert [scores.log_probs.tolist() for scores in row] == [[-np.inf], [-np.inf]]
    with pytest.raises(
        HarnessError, match="generated-answers: example 'e': no such image"
    ):
        list(
            GeneratedAnswers(
                model=Model(lambda example: Failure("no such image"))
            ).score_references([example])
        )
    with pytest.raises(InputError, match="kind"):
        list(
            GeneratedAnswers(model=Model(None), prompt="{kind}").score_references(
                [Example("e", ("yes", "no"))]
            )
        )
