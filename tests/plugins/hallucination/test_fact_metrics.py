"""Precision, recall and F1 of facts against counts by hand."""

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.testing import parametrize_with_checks
from harness_metrics.hallucination.fact_metrics import FactF1, FactPrecision, FactRecall

CANDIDATE = "a brown dog sits on a couch near a lamp"
REFERENCES = ["a brown dog sits on a red couch", "a dog beside a cat"]


@parametrize_with_checks(
    [FactPrecision(), FactRecall(kind="objects"), FactF1(table=None)]
)
def test_contract(check):
    check()


def score(name, candidates, references, **params):
    return harness.metric(name, **params)([candidates], [references]).per_example[0]


def test_values_by_hand():
    # candidate: dog, couch, lamp; dog brown; dog sit on couch, couch near lamp
    # references: dog, couch, cat; dog brown, couch red; dog sit on couch, dog beside
    # cat
    precision = {"objects": 2 / 3, "attributes": 1.0, "relations": 1 / 2}
    recall = {"objects": 2 / 3, "attributes": 1 / 2, "relations": 1 / 2}
    f1 = {"objects": 2 / 3, "attributes": 2 / 3, "relations": 1 / 2}
    for name, expected in (
        ("fact-precision", precision),
        ("fact-recall", recall),
        ("fact-f1", f1),
    ):
        for kind, value in expected.items():
            assert score(name, [CANDIDATE], REFERENCES, kind=kind) == pytest.approx(
                value
            )
        whole = (
            5 * expected["objects"]
            + 5 * expected["attributes"]
            + 2 * expected["relations"]
        ) / 12
        assert score(name, [CANDIDATE], REFERENCES) == pytest.approx(whole)


def test_undefined_candidates_are_left_out():
    assert np.isnan(score("fact-precision", ["red", "?"], REFERENCES))
    assert score("fact-precision", ["?", "a dog"], REFERENCES) == 1.0
    assert score("fact-recall", ["?", "a dog"], ["a dog"]) == 0.5
    assert np.isnan(score("fact-recall", ["a dog"], ["?"]))
    assert np.isnan(score("fact-f1", ["?"], ["?"]))
    assert np.isnan(score("fact-precision", ["a dog"], REFERENCES, kind="relations"))


def test_synonyms():
    assert score("fact-f1", ["a puppy"], ["a dog"]) == 1.0
    assert score("fact-f1", ["a puppy"], ["a dog"], table=None) == 0.0


def test_parameters():
    with pytest.raises(HarnessError, match="kind is 'object'"):
        FactF1(kind="object")
    assert FactF1(kind="relations", table=None).spec.name == "fact-f1(relations,none)"
    assert FactF1().signature().startswith("fact-f1|all|rules|coco-")
