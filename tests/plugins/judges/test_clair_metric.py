"""CLAIR: one request per example, scores, refusals, contract."""

from __future__ import annotations

import json

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.reporting.result_groups import usage_notes
from harness.run.features import FeatureCache
from harness.rundir.records import ResultRecord
from harness.testing import check_metric
from harness_metrics.judges.clair_metric import Clair
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.replies import Reply

CANDIDATES = [["a dog runs"], ["a cat sits"], ["a red ball"]]
REFERENCES = [["a dog runs", "the dog"], ["a dog runs", "the dog"], ["ball", "a ball"]]


def test_the_contract_holds(overlap):
    outcomes = check_metric(Clair(judge=Judge(overlap)))
    assert {o.check: o.reason for o in outcomes if o.failed} == {}


def test_one_request_per_example_with_all_captions(scripted):
    model = scripted(lambda talk: '{"score": 40, "reason": "x"}')
    result = harness.metric("clair", judge=model)(CANDIDATES, REFERENCES)
    assert result.per_example.tolist() == [0.4] * 3
    assert len(model.talks) == 3
    assert all(
        f'"{text}"' in model.talks[0][0]["content"]
        for text in ("a dog runs", "the dog")
    )


def test_refused_and_unreadable_answers_are_undefined_or_lowest(scripted):
    answers = iter(
        [
            Reply("I'm sorry, I can't help."),
            Reply('{"score": 80}', "stop", 10, 5),
            Reply("eighty"),
        ]
        + [Reply("")] * 9
    )
    model = scripted(lambda talk: next(answers))
    scores = harness.metric("clair", judge=model)(CANDIDATES, REFERENCES).per_example
    assert np.isnan(scores).tolist() == [True, False, True]
    assert scores[1] == 0.8
    # from the cache
    again = harness.metric("clair", judge=model, unanswered="lowest")(
        CANDIDATES, REFERENCES
    )
    assert again.per_example.tolist() == [0.0, 0.8, 0.0]


def test_details_count_answers_and_cost(scripted):
    def answer(talk):
        text = "no" if "cat" in talk[0]["content"] else '{"score": 50}'
        return Reply(text, "stop", 100, 10)

    judge = Judge(scripted(answer), prices={"input": 1.0, "output": 10.0})
    metric = Clair(judge=judge, unanswered="lowest")
    features = FeatureCache(REFERENCES)
    sets = [
        CaptionSet(str(k), tuple(c), tuple(r))
        for k, (c, r) in enumerate(zip(CANDIDATES[:2], REFERENCES))
    ]
    details = metric.details(metric.stats(features.batch(sets), features, None))

    assert details["answers"] == {
        "valid": 1,
        "refused": 0,
        "rejected": 0,
        "truncated": 0,
        "empty": 0,
        "invalid": 1,
    }
    assert details["requests"] == 3
    assert details["tokens"] == {"input": 300, "output": 30}
    assert details["cost"] == pytest.approx((300 * 1 + 30 * 10) / 1e6)


@pytest.mark.parametrize(
    ("answers", "is_noted"),
    [
        ([0.8], True),
        ([0.75, 1, 0.2], True),
        ([0, 1, 1], False),
        ([0.8, 80], False),
        ([70.5], False),
    ],
)
@pytest.mark.parametrize("unanswered", ["undefined", "lowest"])
def test_answers_on_a_scale_of_0_to_1_are_named(
    scripted, answers, is_noted, unanswered
):
    replies = iter([*answers, *[answers[-1]] * 3])
    model = scripted(lambda talk: json.dumps({"score": next(replies)}))
    result = harness.metric("clair", judge=model, unanswered=unanswered)(
        CANDIDATES, REFERENCES
    )
    note = (
        "all answers lie from 0 to 1, with fractions, on a scale of 0 to 100: "
        "if the judge answers on a scale of 0 to 1, its scores are "
        "100 times too low"
    )
    assert result.details.get("scale_note") == (note if is_noted else None)
    record = ResultRecord(model="A", metric="clair", details=result.details)
    assert usage_notes([record])[1:] == ([f"CLAIR of A: {note}"] if is_noted else [])


def test_the_signature_has_prompt_and_judge(scripted):
    model = scripted(lambda talk: json.dumps({"score": 1}))
    other = Clair(judge=model, prompt="{candidates} / {references}").signature()
    assert Clair(judge=model).signature() != other
    assert "scripted" in other


def test_a_judge_is_required():
    with pytest.raises(
        HarnessError, match="metric 'clair' needs the parameter 'judge'"
    ):
        harness.metric("clair")
