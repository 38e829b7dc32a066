"""``production-variability``: contract, calibrated and bland sets, details."""

import pytest

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.testing import parametrize_with_checks
from harness_metrics.sets.variability_metric import ProductionVariability

DISTANCE = {"bert": {"embedding": "bow"}}
CROSS = (
    "copies of the references have pairs at distance 0, "
    "which two references do not have"
)


@parametrize_with_checks(
    [
        ProductionVariability(distance=DISTANCE),
        ProductionVariability(distance="bleu", compare="cross"),
    ],
    expected_failures={"production-variability(bleu, cross)": {"direction": CROSS}},
)
def test_contract(check):
    check()


def test_details_tell_too_little_from_too_much():
    references = ("a dog runs", "a red bus waits", "two cats sit")
    sets = [
        CaptionSet("bland", ("a dog",) * 3, references),
        CaptionSet("people", references, references),
    ]
    features = FeatureCache([references] * 2)
    metric = ProductionVariability(distance=DISTANCE)
    stats = metric.stats(features.batch(sets), features, None)
    assert metric.per_example(stats)[1] == 0 < metric.per_example(stats)[0]
    bland = metric.details(stats[:1])
    assert bland["variability_candidates"] == 0
    assert bland["variability_difference"] == pytest.approx(
        -bland["variability_references"]
    )
    assert metric.details(stats[:0]) == {}


def test_parameters():
    cross, within = (
        ProductionVariability(distance=DISTANCE, compare=compare).spec
        for compare in ("cross", "within")
    )
    assert (
        cross.min_candidates,
        within.min_candidates,
        cross.min_references,
        within.min_references,
    ) == (1, 2, 2, 2)
    with pytest.raises(
        HarnessError, match="compare is 'withn'; .*; did you mean 'within'"
    ):
        ProductionVariability(distance=DISTANCE, compare="withn")
