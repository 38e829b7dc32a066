"""Bounds of means within known limits: against the definition, at the level for skewed
and constant values, with clusters.
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest
from scipy import stats

from harness.decisions.statistics.bounded_mean import (
    LARGEST_BET,
    PRIOR,
    BoundedMean,
    betting_interval,
    clopper_pearson,
)
from harness.decisions.statistics.sample_size import LEVEL
from harness.errors import HarnessError


def unchanged(n, bound=1.0):
    return BoundedMean.of_values(np.zeros(n), -bound, bound)


def slow_capital(values, low, high, limit, orders):
    """Return the average capital that is bet on a mean below a limit, unit by unit."""
    capitals = []
    for order in orders:
        capital = 1.0
        seen = []
        for value in values[order]:
            variance = (
                PRIOR * ((high - low) / 2) ** 2
                + sum((x - np.mean(seen)) ** 2 for x in seen)
            ) / (len(seen) + 1)
            bet = min(
                sqrt(2 * log(1 / LEVEL) / (len(values) * variance)),
                LARGEST_BET / (high - limit),
            )
            capital *= 1 + bet * (limit - value)
            seen.append(value)
        capitals.append(capital)
    return np.mean(capitals)


@pytest.mark.parametrize("limit", [0.0, 0.1, 0.4])
def test_the_p_value_is_that_of_its_definition(limit):
    values = np.random.default_rng(1).uniform(-0.6, 0.5, 40)
    mean = BoundedMean.of_values(values, -1.0, 1.0)
    expected = slow_capital(values, -1.0, 1.0, limit, mean._orders)
    assert mean.p_below(limit) == pytest.approx(min(1.0, 1 / expected))
    mirrored = BoundedMean.of_values(-values, -1.0, 1.0)
    assert mirrored.p_above(-limit) == pytest.approx(mean.p_below(limit))


@pytest.mark.parametrize("kind", ["uniform", "few", "constant", "skewed"])
def test_bounds_and_p_values_agree(kind):
    rng = np.random.default_rng(2)
    draws = {
        "uniform": rng.uniform(-1, 1, 60),
        "few": np.where(rng.random(60) < 0.05, 0.7, 0.0),
        "constant": np.full(60, 0.2),
        "skewed": rng.beta(0.2, 4, 60),
    }
    mean = BoundedMean.of_values(draws[kind], -1.0, 1.0)
    low = mean.lower()
    high = mean.upper()
    assert -1 <= low < mean.value < high <= 1
    assert mean.p_below(high) == pytest.approx(LEVEL, rel=1e-3) and mean.p_above(
        low
    ) == pytest.approx(LEVEL, rel=1e-3)
    limits = np.linspace(-0.99, 0.99, 60)
    assert (np.diff([mean.p_below(limit) for limit in limits]) <= 1e-12).all()
    assert (np.diff([mean.p_above(limit) for limit in limits]) >= -1e-12).all()


@pytest.mark.parametrize(
    ("n", "limit", "bound"), [(299, 0.01, 1.0), (1497, 0.02, 10.0), (58, 0.05, 1.0)]
)
def test_without_a_change_the_bound_is_nearly_that_of_clopper_and_pearson(
    n, limit, bound
):
    """No n below the exact one can pass, and few more are needed."""
    assert 1 - (1 - limit / bound) ** n == pytest.approx(0.95, abs=0.002)
    assert unchanged(n - 1, bound).p_below(limit) > LEVEL
    needed = unchanged(n, bound).n_without_change(limit)
    assert n <= needed <= 1.03 * n
    assert unchanged(int(needed), bound).p_below(limit) <= LEVEL


def test_three_equal_values_tell_little():
    assert unchanged(3).upper() == pytest.approx(1 - 0.05 ** (1 / 3), abs=0.002)
    assert BoundedMean.of_values(np.ones(3), 0.0, 1.0).lower() == pytest.approx(
        0.05 ** (1 / 3), abs=0.002
    )


def test_a_mean_at_a_limit():
    top = BoundedMean.of_values(np.ones(50), -1.0, 1.0)
    assert (top.upper(), top.p_below(1.0), top.p_below(1.01), top.p_above(-1.0)) == (
        1.0,
        1.0,
        0.0,
        0.0,
    )
    assert BoundedMean.of_values(np.array([0.5, 1.0]), -1.0, 1.0).p_below(1.0) == 0.0, (
        "not all values are the largest"
    )


def test_values_outside_of_the_limits_are_refused():
    with pytest.raises(
        HarnessError, match="a value of 1.2 lies outside of its limits 0 and 1"
    ):
        BoundedMean.of_values(np.array([0.1, 1.2]), 0.0, 1.0)
    assert BoundedMean.of_values(np.array([1 + 1e-12, 0.0]), 0.0, 1.0).upper() <= 1


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("n", [20, 100, 400])
def test_the_level_holds_for_rare_and_frequent_losses(share, n):
    rng = np.random.default_rng([int(1000 * share), n])
    runs = 200
    losses = (rng.random((runs, n)) < share) * rng.choice([0.3, 1.0], (runs, n))
    p_values = [
        BoundedMean.of_values(row, -1.0, 1.0).p_below(0.65 * share) for row in losses
    ]
    assert np.mean(np.array(p_values) <= LEVEL) <= LEVEL


def test_much_spread_decides_with_about_twice_the_units_of_students_t():
    rng = np.random.default_rng(3)
    n = 400
    values = np.clip(rng.normal(0, 0.2, (100, n)), -1, 1)
    gap = 3.6 * 0.2 / sqrt(n)
    assert (
        np.mean(
            [
                BoundedMean.of_values(row, -1.0, 1.0).p_below(gap) <= LEVEL
                for row in values
            ]
        )
        > 0.75
    )


def test_clusters_are_the_units():
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 6, 80).astype(float)
    sums = sizes * rng.uniform(-0.3, 0.3, 80)
    mean = BoundedMean(sums, sizes, -1.0, 1.0)
    assert mean.value == pytest.approx(sums.sum() / sizes.sum())
    assert mean.lower() < mean.value < mean.upper()
    assert mean.p_below(mean.upper()) == pytest.approx(LEVEL, rel=1e-3)
    doubled = BoundedMean(2 * sums, 2 * sizes, -1.0, 1.0)
    assert doubled.upper() == pytest.approx(mean.upper()), (
        "more values in each cluster are no more units"
    )
    assert BoundedMean(
        np.zeros(30), np.full(30, 4.0), -1.0, 1.0
    ).upper() == pytest.approx(unchanged(30).upper())


def test_the_level_holds_for_clusters_of_very_unequal_size():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(200):
        sizes = np.where(rng.random(30) < 0.1, 40.0, 2.0)
        sums = rng.binomial(
            sizes.astype(int), np.where(rng.random(30) < 0.1, 0.5, 0.0)
        ).astype(float)
        hits += BoundedMean(sums, sizes, -1.0, 1.0).p_below(0.05) <= LEVEL
    assert hits / 200 <= LEVEL


def test_the_number_that_decides():
    values = np.random.default_rng(6).uniform(-0.5, 0.5, 200)
    mean = BoundedMean.of_values(values - values.mean(), -1.0, 1.0)
    assert mean.n_to_decide(mean.value) == inf
    for limit, p_value in ((0.08, "p_below"), (-0.08, "p_above")):
        n = int(mean.n_to_decide(limit))
        draws = np.random.default_rng(7).choice(mean.sums, (100, n))
        decided = [
            getattr(BoundedMean.of_values(row, -1.0, 1.0), p_value)(limit) <= LEVEL
            for row in draws
        ]
        assert np.mean(decided) == pytest.approx(0.8, abs=0.1)
    assert mean.n_to_decide(-0.08, 0.01) > mean.n_to_decide(-0.08)
    assert unchanged(10).n_to_decide(0.01) == pytest.approx(299, abs=3)


def test_the_order_of_the_units_is_seeded():
    values = np.random.default_rng(8).uniform(-1, 1, 50)
    one, again, other = (
        BoundedMean.of_values(values, -1.0, 1.0, seed=seed).upper()
        for seed in (0, 0, 1)
    )
    assert one == again != other and one == pytest.approx(other, abs=0.05)


def test_the_two_sided_interval_covers():
    rng = np.random.default_rng(9)
    draws = rng.beta(0.3, 3.0, (100, 40))
    ends = np.array([betting_interval(row, 0.0, 1.0) for row in draws])
    truth = 0.3 / 3.3
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.95
    wide = betting_interval(draws[0], 0.0, 1.0, level=0.01)
    assert wide[0] < ends[0][0] and ends[0][1] < wide[1]
    clustered = betting_interval(
        draws[0].reshape(20, 2).sum(axis=1), 0.0, 1.0, sizes=np.full(20, 2)
    )
    assert clustered[0] < draws[0].mean() < clustered[1]


@pytest.mark.parametrize(("successes", "trials"), [(0, 20), (3, 20), (20, 20), (1, 1)])
def test_clopper_and_pearson(successes, trials):
    test = stats.binomtest(successes, trials).proportion_ci(0.9, "exact")
    assert clopper_pearson(successes, trials, level=0.1) == pytest.approx(
        (test.low, test.high)
    )
