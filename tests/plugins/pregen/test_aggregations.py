"""Aggregations of segments against numpy's functions of one segment."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from harness_metrics.pregen.aggregations import AGGREGATIONS

ROWS = np.random.default_rng(0).random((3, 30))
OFFSETS = np.array([0, 1, 3, 20, 30])


@pytest.mark.parametrize("name", ["sum", "mean", "median", "max", "min"])
def test_segments_are_aggregated_one_by_one(name):
    expected = [
        getattr(np, name)(ROWS[:, start:end], axis=1)
        for start, end in pairwise(OFFSETS)
    ]
    found = AGGREGATIONS[name](ROWS, OFFSETS)
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-12)


def test_the_geometric_mean_of_a_segment_with_a_zero_is_zero():
    rows = np.array([[2.0, 8.0, 0.0, np.inf, 4.0]])
    found = AGGREGATIONS["geomean"](rows, np.array([0, 2, 4, 5]))
    np.testing.assert_allclose(found, [[4.0, 0.0, 4.0]], rtol=1e-15)
