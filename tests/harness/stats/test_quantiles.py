"""The quantiles are those of scipy, those of the normal distribution to the last
bits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from scipy.stats import binom

from harness.stats.quantiles import (
    normal_cdf,
    normal_quantile,
    student_quantile,
    student_tail,
    wilson_interval,
)

UNITS = 4
"""Largest distance from scipy in units in the last place: its exponential and logarithm
are those of the C library.
"""


def test_the_normal_distribution_is_that_of_scipy() -> None:
    rng = np.random.default_rng(0)
    edges = [
        0.0,
        -0.0,
        math.sqrt(2),
        -math.sqrt(2),
        8 * math.sqrt(2),
        -8 * math.sqrt(2),
        37.6,
        -37.6,
        38.5,
        math.inf,
        -math.inf,
    ]
    numbers = np.concatenate(
        [5 * rng.normal(size=20_000), rng.uniform(-40, 40, 5_000), edges]
    )
    np.testing.assert_array_max_ulp(
        np.array([normal_cdf(float(x)) for x in numbers]), special.ndtr(numbers), UNITS
    )
    assert math.isnan(normal_cdf(math.nan))


def test_normal_quantiles_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    tails = 10 ** rng.uniform(-300, 0, 5_000)
    shares = np.concatenate(
        [
            rng.uniform(size=20_000),
            tails,
            1 - 10 ** rng.uniform(-16, 0, 5_000),
            [0, 0.5, 1, 5e-324],
        ]
    )
    np.testing.assert_array_max_ulp(
        np.array([normal_quantile(float(p)) for p in shares]),
        special.ndtri(shares),
        UNITS,
    )


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_no_number_has_a_share_outside_0_and_1(share: float) -> None:
    assert math.isnan(normal_quantile(share))


@given(st.floats(0.5, 1e5), st.floats(-40, 40))
def test_the_tails_of_student_are_those_of_scipy(freedom: float, t: float) -> None:
    assert student_tail(freedom, t) == pytest.approx(
        float(special.stdtr(freedom, -t)), rel=2e-12, abs=1e-300
    )


@pytest.mark.parametrize(
    ("freedom", "t", "tail"),
    [
        (1, 1.0, 0.25),
        (5, 0.0, 0.5),
        (3, math.inf, 0.0),
        (3, -math.inf, 1.0),
        (7, 1e-200, 0.5),
    ],
)
def test_some_tails_are_known(freedom: float, t: float, tail: float) -> None:
    assert student_tail(freedom, t) == pytest.approx(tail, rel=1e-15)
    assert math.isnan(student_tail(freedom, math.nan))


def test_far_tails_keep_their_digits() -> None:
    # P(T > t) of 3 degrees of freedom: (1/2 - (atan(u) + u / (1 + u²)) / pi) with u = t
    # / sqrt(3), by its expansion for large t.
    t = 1e6
    assert student_tail(3, t) == pytest.approx(
        2 * math.sqrt(3) / math.pi / t**3, rel=1e-11
    )


@pytest.mark.parametrize("share", [0.975, 0.9, 0.6, 0.9999, 0.025])
def test_student_quantiles_are_those_of_scipy(share: float) -> None:
    freedom = np.array([1, 2, 2.5, 3, 7, 10, 33, 99, 100, 500, 4999])
    found = np.array([student_quantile(float(nu), share) for nu in freedom])
    np.testing.assert_allclose(
        found, special.stdtrit(freedom, share), rtol=2e-14 if share < 0.99 else 1e-11
    )


def test_quantiles_at_the_ends() -> None:
    assert [student_quantile(4, p) for p in (0.0, 0.5, 1.0)] == [
        -math.inf,
        0.0,
        math.inf,
    ]
    assert math.isnan(student_quantile(4, 1.5))


def test_the_interval_solves_the_score_equation():
    low, high = wilson_interval(0.3, 40)
    for end in (low, high):
        assert abs(0.3 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(
            1.959964, abs=1e-6
        )


@pytest.mark.parametrize(
    ("share", "ends"), [(0.0, (0.0, 0.161)), (1.0, (0.839, 1.0)), (0.5, (0.299, 0.701))]
)
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
