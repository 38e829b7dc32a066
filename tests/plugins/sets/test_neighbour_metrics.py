"""Precision, recall, density and coverage as metrics: contract, direction,
parameters, p-values.
"""

import numpy as np
import pytest

from harness.contracts import CaptionSet, join_statistics
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness.stats.significance import metric_p_values
from harness.testing import parametrize_with_checks
from harness_metrics.sets import neighbour_metrics as metrics

DISTANCE = {"bert": {"embedding": "bow"}}
PER_EXAMPLE = [
    metrics.PrecisionPerExample,
    metrics.RecallPerExample,
    metrics.DensityPerExample,
    metrics.CoveragePerExample,
]
CORPUS = [metrics.Precision, metrics.Recall, metrics.Density, metrics.Coverage]


@parametrize_with_checks(
    [
        *(cls(distance=DISTANCE) for cls in PER_EXAMPLE),
        *(cls(embedding="bow", k=1) for cls in CORPUS),
    ]
)
def test_contract(check):
    check()


def test_copies_of_the_references_reach_all_of_them():
    sets = [CaptionSet("1", ("a dog", "a cat", "a bus"), ("a dog", "a cat", "a bus"))]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    for cls in PER_EXAMPLE:
        metric = cls(distance=DISTANCE)
        scores = metric.scores(batch, features, None)
        assert scores == pytest.approx(3.0 if cls is metrics.DensityPerExample else 1.0)
        p = metric_p_values(metric, batch, features, None, scores)
        assert p.method == "exact" and p.values == [1.0]


def test_candidates_of_one_kind_leave_references_uncovered():
    sets = [
        CaptionSet(
            "1",
            ("a dog runs fast", "the dog"),
            ("a dog runs", "the dog runs", "a red bus", "the red bus"),
        )
    ]
    features = FeatureCache([item.references for item in sets])
    batch = features.batch(sets)
    assert metrics.CoveragePerExample(distance=DISTANCE).scores(
        batch, features, None
    ).tolist() == [0.5]
    assert metrics.PrecisionPerExample(distance=DISTANCE).scores(
        batch, features, None
    ).tolist() == [1.0]


def test_names_and_signatures():
    assert (
        metrics.CoveragePerExample(distance=DISTANCE, k=2).spec.name
        == "coverage-example(cosine-bow, k=2)"
    )
    assert metrics.Coverage(embedding="bow").spec.name == "coverage(bow)"
    assert (
        metrics.Coverage(embedding="bow", k=3).signature()
        == "coverage|k=3|bow|hashed:4096"
    )
    assert metrics.RecallPerExample(distance=DISTANCE, k=2).spec.min_candidates == 3


@pytest.mark.parametrize("k", [0, 1.5, True, "5"])
def test_a_bad_k_is_an_error(k):
    with pytest.raises(
        HarnessError, match=r"Coverage: k is .*; expected a whole number of at least 1"
    ):
        metrics.Coverage(embedding="bow", k=k)


def test_the_corpus_pools_examples_of_different_sizes():
    sets = [
        CaptionSet("1", ("a dog",), ("a dog", "a cat")),
        CaptionSet("2", ("a bus", "a red bus"), ("the bus", "a bus", "a red bus")),
    ]
    features = FeatureCache([item.references for item in sets])
    metric = metrics.Coverage(embedding="bow", k=1)
    stats = join_statistics(
        [metric.stats(features.batch([item]), features, None) for item in sets]
    )
    assert metric.reduce(stats) == 1.0
    assert np.isnan(metric.reduce(stats[:0]))
