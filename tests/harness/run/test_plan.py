"""The plan of a run: decoding grids, labels, places of mistakes."""

from __future__ import annotations

import pytest

from harness import api
from harness.contracts import Decoding
from harness.errors import InputError
from harness.rundir.records import changed_fields

SPEC = """task: t
dataset: {reader: words, count: 3}
models:
  - echo: {n: 2}
metrics:
  - length
  - length:
      scale: 2.0
      WORD: 1
"""
SAME_SPEC = """task: words
dataset: {reader: words}
models: [{echo: {n: 2}}, {echo: {n: 3, label: two}}]
metrics: [length]
references: [2]
decoding:
  candidates: 2
same:
  - echo
  - two
"""


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def test_a_decoding_is_described_by_what_differs_from_the_defaults():
    decoding = Decoding(strategy="nucleus", top_p=0.9, options={"alpha": 1})
    assert changed_fields(decoding) == {
        "strategy": "nucleus",
        "top_p": 0.9,
        "options": {"alpha": 1},
    }
    assert changed_fields(Decoding()) == {}


def test_decodings_that_differ_in_candidates_share_the_generation_of_the_largest(
    project,
):
    item = plan(decoding={"temperature": [0.5, 1.0], "candidates": [1, 2]})
    assert [len(decodings) for decodings in item.generations.values()] == [2, 2]
    assert [
        (decoding.temperature, decoding.candidates) for decoding in item.generations
    ] == [(0.5, 2), (1.0, 2)]


def test_reference_counts_are_distinct(project):
    assert plan(references=[1, 2, 1]).reference_counts == (1, 2)
    assert plan().reference_counts == (None,)


def test_metrics_are_split_by_level(project):
    item = plan()
    assert [metric.label for metric in item.caption_metrics] == ["length"]
    assert item.token_metrics == ()


def test_two_models_under_one_decoding_may_be_compared(project):
    (project / "spec.yaml").write_text(SAME_SPEC)
    assert plan().spec.same == ["echo", "two"]
    (project / "spec.yaml").write_text(
        SAME_SPEC.replace("candidates: 2", "strategy: nucleus")
    )
    assert plan().decodings[0].candidates is None, "as many as the model gives"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "  - two\n",
            "  - tow\n",
            "spec.yaml:10: same: there is no model 'tow'; did you mean 'two'?; "
            "models are echo, two",
        ),
        (
            "  - echo\n",
            "  - ecko\n",
            "spec.yaml:9: same: there is no model 'ecko'; did you mean 'echo'?; "
            "models are echo, two",
        ),
        (
            "  - two\n",
            "  - echo\n",
            "spec.yaml:10: same: the model 'echo' is named twice; "
            "expected different models",
        ),
        (
            "candidates: 2",
            "candidates: [2, 3]",
            "spec.yaml:8: same: compares models under one decoding and number of "
            "references; found a grid",
        ),
        (
            "[2]",
            "[1, 2]",
            "spec.yaml:8: same: compares models under one decoding and number of "
            "references; found a grid",
        ),
        (
            "candidates: 2",
            "candidates: 1",
            "spec.yaml:7: same: one caption of each model per example has a smallest "
            "p-value of 1",
        ),
    ],
)
def test_models_that_cannot_be_compared_have_their_line(project, old, new, message):
    assert SAME_SPEC.count(old) == 1
    (project / "spec.yaml").write_text(SAME_SPEC.replace(old, new))
    with pytest.raises(InputError) as caught:
        plan()
    assert str(caught.value).startswith(message)
    if new == "candidates: 1":
        assert str(caught.value).endswith(
            "(5 captions 2/252); expected candidates: 2 or more"
        )
        assert (caught.value.parameter, caught.value.value) == ("candidates", 1)
