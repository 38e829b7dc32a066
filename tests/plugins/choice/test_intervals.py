"""Intervals of shares and ratios over independent units."""

import numpy as np
import pytest

from harness.stats.quantiles import wilson_interval
from harness_metrics.choice import intervals


def test_a_share_has_wilsons_interval():
    assert intervals.of_share(
        np.array([1.0, 1.0, 1.0, 0.0]), 100, 0
    ).ends == wilson_interval(0.75, 4)
    low, high = intervals.of_share(np.array([1.0, 1.0]), 100, 0, (-1.0, 1.0)).ends
    assert (low, high) == (pytest.approx(2 * wilson_interval(1.0, 2)[0] - 1), 1.0)


def test_other_values_are_bootstrapped():
    values = np.random.default_rng(0).choice([0.0, 0.5, 1.0], 200)
    result = intervals.of_share(values, 500, 0)
    assert result.ends[0] < values.mean() < result.ends[1]
    assert result == intervals.of_share(values, 500, 0)


def test_reasons_for_no_interval():
    assert intervals.of_share(np.array([1.0]), 100, 0).note == intervals.FEW
    constant = intervals.of_ratio(
        lambda weights: np.full(len(weights), 0.5), 10, 100, 0
    )
    assert (constant.ends, constant.note) == (
        None,
        "every resample of the examples gives the same number",
    )
