"""The quantiles are those of scipy, to the last bit where the compiler of scipy fuses no operations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special
from scipy.stats import binom

from harness.stats.quantiles import LEVEL, STUDENT, normal_cdf, normal_quantile, student_quantile, wilson_interval

UNITS = 4
"""Largest distance from scipy in units in the last place, where its compiler fused multiplications and additions."""


def test_the_normal_distribution_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    edges = [0.0, -0.0, math.sqrt(2), -math.sqrt(2), 8 * math.sqrt(2), -8 * math.sqrt(2), 37.6, -37.6, 38.5, math.inf, -math.inf]
    numbers = np.concatenate([5 * rng.normal(size=20_000), rng.uniform(-40, 40, 5_000), edges])
    np.testing.assert_array_max_ulp(np.array([normal_cdf(float(x)) for x in numbers]), special.ndtr(numbers), UNITS)
    assert math.isnan(normal_cdf(math.nan))


def test_normal_quantiles_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    tails = 10 ** rng.uniform(-300, 0, 5_000)
    shares = np.concatenate([rng.uniform(size=20_000), tails, 1 - 10 ** rng.uniform(-16, 0, 5_000), [0, 0.5, 1, 5e-324]])
    np.testing.assert_array_max_ulp(np.array([normal_quantile(float(p)) for p in shares]), special.ndtri(shares), UNITS)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_no_number_has_a_share_outside_0_and_1(share: float) -> None:
    assert math.isnan(normal_quantile(share))


def test_student_quantiles_are_those_of_scipy() -> None:
    freedom = np.arange(1, len(STUDENT) + 1)
    np.testing.assert_array_max_ulp(np.array(STUDENT), special.stdtrit(freedom, LEVEL), UNITS)


@pytest.mark.parametrize(("freedom", "share"), [(500, LEVEL), (2.5, LEVEL), (7, 0.9)])
def test_quantiles_outside_the_table_are_computed(freedom: float, share: float) -> None:
    assert student_quantile(freedom, share) == special.stdtrit(freedom, share)


def test_the_interval_solves_the_score_equation():
    low, high = wilson_interval(0.3, 40)
    for end in (low, high):
        assert abs(0.3 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize(("share", "ends"), [(0.0, (0.0, 0.161)), (1.0, (0.839, 1.0)), (0.5, (0.299, 0.701))])
def test_intervals_lie_in_0_to_1_and_contain_the_share(share, ends):
    low, high = wilson_interval(share, 20)
    assert (low, high) == pytest.approx(ends, abs=1e-3)
    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("n", [20, 100])
def test_the_mean_coverage_is_nominal(n):
    shares = np.linspace(0.02, 0.98, 97)
    ends = np.array([wilson_interval(k / n, n) for k in range(n + 1)])
    covers = (ends[:, 0] <= shares[:, None]) & (shares[:, None] <= ends[:, 1])
    coverage = (covers * binom.pmf(np.arange(n + 1), n, shares[:, None])).sum(axis=1)
    assert coverage.mean() == pytest.approx(0.953, abs=0.004)
