"""``production-variability``: contract, calibrated and bland sets, details."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from harness.contracts import CaptionSet
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats import permutation
from harness.testing import parametrize_with_checks
from harness_metrics.sets import variability_metric
from harness_metrics.sets.variability_metric import ProductionVariability

# --------------------------------------------------------------------------- distributions of distances
# Distributions of pairwise distances: scipy's Wasserstein distance under every
# relabeling.


@pytest.mark.parametrize("compare", ["within", "cross"])
def test_wasserstein_distance_of_scipy(compare):
    distances = np.random.default_rng(0).integers(0, 5, (3, 6, 6)).astype(float)
    labels = permutation.relabelings(3, 3)
    values = variability_metric.wasserstein(distances, labels, compare)
    for row, matrix in zip(values, distances):
        symmetric = (matrix + matrix.T) / 2
        for value, label in zip(row, labels):
            candidates = np.flatnonzero(label)
            references = np.flatnonzero(~label)
            human = [symmetric[pair] for pair in combinations(references, 2)]
            pairs = (
                combinations(candidates, 2)
                if compare == "within"
                else [(a, b) for a in candidates for b in references]
            )
            assert value == pytest.approx(
                wasserstein_distance([symmetric[pair] for pair in pairs], human),
                abs=1e-12,
            )


def test_means_leave_out_the_diagonal():
    distances = np.ones((1, 5, 5)) - np.eye(5)
    distances[0, :2, :2] *= 3
    assert variability_metric.means(distances, 2).tolist() == [[3.0, 1.0]]
    assert variability_metric.means(distances, 1)[0, 0] == 0.0


# --------------------------------------------------------------------------- metric

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
