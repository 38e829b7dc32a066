"""Tests."""

import math

import numpy as np

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.bases.example_values import features_by_example, mean_of_defined


def test_features_by_example_divides_candidates_and_references():
    features = FeatureCache()
    computed = []
    sets = [CaptionSet("1", ("a", "b"), ("c",)), CaptionSet("2", ("b", "d"), ("a",))]

    def lengths(texts):
        computed.extend(texts)
        return [text.upper() for text in texts]

    result = features_by_example(features, features.batch(sets), "upper", lengths)
    assert result == [(["A", "B"], ["C"]), (["B", "D"], ["A"])]
    assert sorted(computed) == ["a", "b", "c", "d"]  # each distinct text once


def test_mean_of_defined_leaves_nan_out():
    assert (
        mean_of_defined([1.0, math.nan, 2.0])
        == 1.5
        == mean_of_defined(np.array([1.0, 2.0]))
    )
    assert math.isnan(mean_of_defined([math.nan])) and math.isnan(mean_of_defined([]))
