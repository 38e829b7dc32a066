"""CHAIR against a count by hand: sources of the truth, undefined examples, weights,
and p-values.
"""

import numpy as np
import pytest

import harness
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.hallucination.chair import ChairI, ChairS, ObjectRecall

CANDIDATES = [
    ["a dog and a cat on a couch", "a puppy"],
    ["a man rides a horse", "a man beside a car and a truck"],
    ["red", "wet"],
]
REFERENCES = [["a dog lies on the sofa"], ["a person on a horse"], ["a bus"]]


@parametrize_with_checks([ChairI(), ChairS(), ObjectRecall()], expected_failures={})
def test_contract(check):
    check()


def test_values_by_hand():
    values = {
        name: harness.metric(name)(CANDIDATES, REFERENCES)
        for name in ("chair-i", "chair-s", "object-recall")
    }
    # hallucinated: cat of (dog, cat, couch, dog); car and truck of (person, horse,
    # person, car, truck)
    np.testing.assert_allclose(values["chair-i"].per_example, [1 / 4, 2 / 5, np.nan])
    assert values["chair-i"].value == pytest.approx(3 / 9)
    assert values["chair-s"].per_example.tolist() == [0.5, 0.5, 0.0]
    assert values["object-recall"].per_example.tolist() == [
        (1 + 0.5) / 2,
        (1 + 0.5) / 2,
        0.0,
    ]


def stats(metric, *sets):
    features = FeatureCache([item.references for item in sets])
    return metric.stats(features.batch(sets), features, None)


def test_annotations_and_both():
    item = CaptionSet(
        "x", ("a dog and a cat",), ("a dog",), meta={"objects": ["kitten"]}
    )
    assert stats(ChairI(), item).tolist() == [[1.0, 2.0]]
    assert stats(ChairI(truth="annotations"), item).tolist() == [[1.0, 2.0]]
    assert stats(ChairI(truth="both"), item).tolist() == [[0.0, 2.0]]
    assert stats(ObjectRecall(truth="annotations"), item).tolist() == [[1.0]]
    assert "references" not in ChairI(truth="annotations").spec.needs


@pytest.mark.parametrize(
    "meta, message",
    [
        ({}, "'x' has no list of objects under 'objects' .found no meta."),
        ({"labels": ["dog"]}, "found labels"),
        ({"objects": "dog"}, "has no list of objects"),
        (
            {"objects": ["unicorn"]},
            "example 'x': the annotated object 'unicorn' is not in the table",
        ),
    ],
)
def test_examples_without_valid_annotations(meta, message):
    with pytest.raises(InputError, match=message):
        stats(
            ChairI(truth="annotations"),
            CaptionSet("x", ("a dog",), ("a dog",), meta=meta),
        )


def test_weights_repeat_examples():
    metric = ChairI()
    rows = np.array([[1.0, 4.0], [2.0, 5.0]])
    assert metric.reduce(rows, np.array([[2.0, 1.0]]))[0] == metric.reduce(
        rows[[0, 0, 1]]
    )
    np.testing.assert_allclose(metric.of_sums(metric.summands(rows).sum(axis=0)), 3 / 9)


def test_examples_without_objects_in_the_references_are_undefined_for_recall():
    assert np.isnan(
        harness.metric("object-recall")([["a dog"]], [["green"]]).per_example
    ).all()


def test_p_values_need_references():
    result = harness.metric("chair-s", p_value="exact")(
        [["a dog", "a cat"]], [["a dog", "a dog lies"]]
    )
    assert 0 < result.p_value <= 1
    assert ChairS(truth="both").spec.untestable == "reads annotations"


def test_parameters():
    with pytest.raises(HarnessError, match="ChairI: truth is 'reference'"):
        ChairI(truth="reference")
    assert ChairI(truth="both").spec.name == "chair-i(both)"
    assert (
        ChairI(truth="both", key="labels")
        .signature()
        .startswith("chair-i|both:labels|coco-")
    )
