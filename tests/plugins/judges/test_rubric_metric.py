"""The rubric: grades of each candidate, criteria, scale, captions without an answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.contracts.parameters import list_parameters
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import check_metric
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.rubric_metric import Rubric

SETS = [
    CaptionSet("1", ("a dog", "a cat"), ("the dog",), source="Ein Hund"),
    CaptionSet("2", ("ball", "dog"), ("a ball",)),
]


def stats(metric: Rubric) -> np.ndarray:
    features = FeatureCache([item.references for item in SETS])
    return metric.stats(features.batch(SETS), features, None)


@pytest.mark.parametrize(
    "settings", [{}, {"references": False}, {"scale": [0, 10], "unanswered": "lowest"}]
)
def test_the_contract_holds(overlap, settings):
    if not settings:
        outcomes = check_metric(Rubric(judge=Judge(overlap)))
        assert {o.check: o.reason for o in outcomes if o.failed} == {}
    assert Rubric(judge=overlap, **settings).signature()


def test_grades_are_scaled_and_averaged(scripted):
    grades = {"a dog": (5, 3), "a cat": (1, 1), "ball": (3, 3), "dog": (2, 4)}

    def answer(talk):
        caption = json.loads(
            talk[0]["content"].split("Caption to grade:\n")[1].splitlines()[0]
        )
        return json.dumps(dict(zip(("truth", "style"), grades[caption])))

    metric = Rubric(
        judge=scripted(answer),
        criteria={"truth": "it is true", "style": "it reads well"},
    )
    values = stats(metric)
    assert values[:, 0].tolist() == [
        (1 + 0.5 + 0 + 0) / 4,
        (0.5 + 0.5 + 0.25 + 0.75) / 4,
    ]
    details = metric.details(values)
    assert details["criteria"] == {
        "truth": pytest.approx((0.5 + 0.375) / 2),
        "style": pytest.approx((0.25 + 0.625) / 2),
    }
    assert details["answers"]["valid"] == 4  # type: ignore[index]


def test_a_caption_without_answer_is_left_out_or_lowest(scripted):
    def answer(talk):
        content = talk[0]["content"].split("Caption to grade:")[1]
        return (
            Reply("I'm sorry, I can't.")
            if "dog" in content
            else json.dumps({"truth": 5})
        )

    model = scripted(answer)
    assert stats(Rubric(judge=model, criteria={"truth": "x"}))[:, 0].tolist() == [
        1.0,
        1.0,
    ]
    assert stats(Rubric(judge=model, criteria={"truth": "x"}, unanswered="lowest"))[
        :, 0
    ].tolist() == [0.5, 0.5]


def test_the_judge_sees_references_and_source_unless_hidden(scripted):
    def seen(**settings):
        model = scripted(lambda talk: '{"truth": 5}')
        stats(
            Rubric(judge=Judge(model, cache=False), criteria={"truth": "x"}, **settings)
        )
        return "\n".join(talk[0]["content"] for talk in model.talks)

    assert "the dog" in seen() and "Ein Hund" in seen()
    assert "the dog" not in seen(references=False)
    assert "Ein Hund" not in seen(source=False)
    assert Rubric(judge=scripted(str), references=False).spec.needs == frozenset()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criteria": {}}, "rubric: criteria is {}"),
        ({"criteria": {"a": "x", "A ": "y"}}, "expected a mapping of different names"),
        ({"criteria": ["truth"]}, "rubric: criteria is"),
        ({"scale": [5, 1]}, "expected two ascending numbers"),
        ({"scale": 5}, "expected two ascending numbers"),
        ({"scale": [1, float("nan")]}, "expected two ascending numbers"),
        ({"prompt": "{candidate}"}, "rubric: prompt has no {criteria}"),
        ({"unanswered": "zero"}, "unanswered is 'zero'"),
    ],
)
def test_settings_are_checked(overlap, settings, message: str):
    with pytest.raises(HarnessError) as error:
        Rubric(judge=overlap, **settings)
    assert message in str(error.value)


def test_the_scale_of_a_spec_is_no_axis(overlap):
    assert list_parameters(Rubric) == {"scale"}
    assert harness.metric("rubric", judge=overlap, scale=[1, 7])


@pytest.mark.parametrize(
    ("scale", "grades", "is_noted"),
    [
        ((0, 100), (0.5, 0.9), True),
        ((0, 10), (0.25, 1), True),
        ((0, 10), (0, 1), False),
        ((0, 10), (2, 0.5), False),
        ((0, 1), (0.5, 0.9), False),
    ],
)
def test_grades_on_a_scale_of_0_to_1_are_named(scripted, scale, grades, is_noted):
    model = scripted(lambda talk: json.dumps(dict(zip(("truth", "style"), grades))))
    metric = Rubric(
        judge=model,
        criteria={"truth": "it is true", "style": "it reads well"},
        scale=scale,
    )
    note = metric.details(stats(metric)).get("scale_note")
    assert (note is not None) == is_noted
    assert not is_noted or f"on a scale of 0 to {scale[1]}: " in str(note)
