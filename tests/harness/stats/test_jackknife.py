"""Jackknife intervals against the closed form of the mean."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from harness.stats import jackknife


def test_the_interval_of_a_mean_is_students():
    x = np.random.default_rng(0).normal(size=30)
    without = (x.sum() - x) / 29
    half = t.ppf(0.975, 29) * x.std(ddof=1) / np.sqrt(30)
    assert jackknife.interval(x.mean(), without) == pytest.approx((x.mean() - half, x.mean() + half))


@pytest.mark.parametrize("without", [[1.0, 1.0, 1.0], [1.0, np.nan, 2.0], [1.0, np.inf]])
def test_numbers_that_do_not_differ_or_are_undefined_have_no_interval(without):
    assert jackknife.interval(1.0, np.array(without)) is None
