"""The interval of a skewed mean: Student's without skewness, mirrored, longer on the
side of the rare values, and never much longer.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.statistics.skewed_interval import (
    OF_LABELS,
    OF_RESIDUALS,
    skewed_interval,
)
from harness.stats.quantiles import student_quantile


def test_without_skewness_it_is_students():
    for freedom in (10.0, 37.5, 1000.0):
        half = 2 * student_quantile(freedom, 0.975)
        assert skewed_interval(3.0, 2.0, 0.0, freedom) == pytest.approx(
            (3 - half, 3 + half), rel=1e-12
        )
        assert skewed_interval(3.0, 2.0, 1e-8, freedom) == pytest.approx(
            (3 - half, 3 + half), rel=1e-5
        )


@pytest.mark.parametrize("skewness", [0.02, 0.1, 0.3, 2.0])
def test_it_is_mirrored_with_the_skewness(skewness):
    low, high = skewed_interval(1.0, 0.5, skewness, 30.0)
    assert skewed_interval(-1.0, 0.5, -skewness, 30.0) == pytest.approx(
        (-high, -low), rel=1e-12
    )
    assert high - 1 > 1 - low


@pytest.mark.parametrize(
    ("residuals", "allowance"), [(False, OF_LABELS), (True, OF_RESIDUALS)]
)
def test_its_ends_are_students_quantiles_after_the_transformation(residuals, allowance):
    freedom = 60.0
    skewness = 0.05
    size = skewness * (1 + allowance.inflation / (freedom + 1))
    low, high = skewed_interval(0.0, 1.0, skewness, freedom, residuals=residuals)
    quantile = student_quantile(freedom, 0.975)
    for t, expected in ((-high, -quantile), (-low, quantile)):
        assert t + size * t**2 / 3 + size**2 * t**3 / 27 + size / 6 == pytest.approx(
            expected, rel=1e-9
        )


@pytest.mark.parametrize(("residuals", "shortest"), [(False, 0.9), (True, 0.93)])
def test_the_longer_side_grows_to_twice_students_and_the_shorter_one_keeps_most_of_it(
    residuals, shortest
):
    for freedom in (10.0, 30.0, 500.0):
        quantile = student_quantile(freedom, 0.975)
        ends = np.array(
            [
                skewed_interval(0.0, 1.0, skewness, freedom, residuals=residuals)
                for skewness in np.linspace(0, 3, 400)
            ]
        )
        assert np.all(np.diff(ends[:, 1]) >= -1e-12)
        assert 1.8 * quantile < ends[-1, 1] < 2.2 * quantile
        assert np.all(-ends[:, 0] >= shortest * quantile - 1e-12) and np.all(
            -ends[:, 0] <= quantile + 1e-12
        )
