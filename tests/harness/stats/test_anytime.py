"""Confidence sequences: against a slow implementation, on null runs, with clusters,
and of finite populations.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, log, prod

import numpy as np
import pytest

from harness.stats.anytime import (
    FIRST_LOOK,
    FRACTIONS,
    LEVEL,
    Look,
    asymptotic_looks,
    betting_looks,
    exchangeable_p_values,
    influences,
    shift_look,
)


def betting(values, looks, bound=1.0, **options):
    values = np.asarray(values, dtype=float)
    return betting_looks(values, np.ones(len(values)), bound, looks, **options)


@np.errstate(over="ignore")
def slow_capital(values, mean, bound, population=None):
    """Return the largest capital that bets on larger differences than ``mean`` ever
    had, example by example.
    """
    largest = 0.0
    capitals = [1.0] * len(FRACTIONS)
    for k, value in enumerate(values):
        null = (
            mean
            if population is None
            else (population * mean - sum(values[:k])) / (population - k)
        )
        null = min(max(null, -bound), bound)
        unit = (value - null) / (bound + null + 1e-12 * bound)
        capitals = [
            capital * (1 + fraction * max(unit, -1))
            for capital, fraction in zip(capitals, FRACTIONS)
        ]
        largest = max(largest, sum(capitals) / len(capitals))
    return largest


@pytest.mark.parametrize("population", [None, 60])
def test_the_betting_sequence_is_that_of_its_definition(population):
    values = np.random.default_rng(1).uniform(-0.4, 0.9, 40)
    (look,) = betting(values, [40], population=population)
    grid = np.linspace(-1, 1, 801)
    kept = [
        mean
        for mean in grid
        if slow_capital(values, mean, 1.0, population) < 2 / LEVEL
        and slow_capital(-values, -mean, 1.0, population) < 2 / LEVEL
    ]
    reach = (
        (inf, inf)
        if population is None
        else ((sum(values) - 20) / 60, (sum(values) + 20) / 60)
    )
    assert look.low == pytest.approx(
        min(kept) if population is None else max(min(kept), reach[0]), abs=0.003
    )
    assert look.high == pytest.approx(
        max(kept) if population is None else min(max(kept), reach[1]), abs=0.003
    )
    assert look.difference == pytest.approx(values.mean())
    best = max(
        slow_capital(values, 0.0, 1.0, population),
        slow_capital(-values, 0.0, 1.0, population),
    )
    assert look.p_value == pytest.approx(min(1.0, 2 / best))


def test_the_fractions_of_the_bets_are_known_before_the_data():
    assert FRACTIONS[0] < 1 and len(FRACTIONS) == 8
    assert prod(FRACTIONS) > 0


def test_p_and_sequence_agree_at_every_look():
    for seed, mean in enumerate((0.0, 0.05, 0.1, 0.2, -0.1)):
        values = np.clip(np.random.default_rng(seed).normal(mean, 0.3, 400), -1, 1)
        for look in betting(values, range(20, 401, 20)):
            assert (look.p_value <= LEVEL) == (look.low > 0 or look.high < 0), (
                seed,
                look,
            )


def test_the_sequence_never_grows_and_p_never_rises():
    values = np.clip(np.random.default_rng(3).normal(0.05, 0.4, 500), -1, 1)
    looks = betting(values, [10, 50, 100, 250, 500])
    for first, second in pairwise(looks):
        assert second.low >= first.low - 1e-6 and second.high <= first.high + 1e-6
        assert second.p_value <= first.p_value


def test_the_units_of_the_scores_do_not_matter():
    values = np.random.default_rng(4).uniform(-1, 1, 80)
    (one,), (ten,) = betting(values, [80]), betting(10 * values, [80], bound=10.0)
    assert (ten.low, ten.high, ten.p_value) == pytest.approx(
        (10 * one.low, 10 * one.high, one.p_value)
    )
    (mirrored,) = betting(-values, [80])
    assert (mirrored.low, mirrored.high, mirrored.p_value) == pytest.approx(
        (-one.high, -one.low, one.p_value)
    )


def test_no_variance_and_no_difference():
    same = betting(np.zeros(300), [300])[0]
    best = betting(np.ones(10), [10])[0]
    assert same.p_value == 1.0 and same.low < 0 < same.high
    assert best.high == pytest.approx(1.0, abs=1e-6) and best.low > 0.1


def nulls(kind, rng, runs, n):
    if kind == "symmetric":
        return rng.choice([-0.5, -0.1, 0.1, 0.5], (runs, n))
    # 95 % small losses, 5 % large gains, mean 0
    return np.where(rng.random((runs, n)) < 0.05, 0.95, -0.05)


@pytest.mark.parametrize("kind", ["symmetric", "skewed"])
def test_false_alarms_with_a_look_after_every_example(kind):
    rng = np.random.default_rng(5)
    values = nulls(kind, rng, 120, 400)
    alarms = [betting(row, [400])[0].p_value <= LEVEL for row in values]
    assert np.mean(alarms) <= LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / len(alarms))
    z = np.cumsum(values, axis=1) / np.sqrt(np.cumsum(values**2, axis=1))
    assert np.mean(np.abs(z[:, 30:]).max(axis=1) > 1.96) > 0.15, (
        "the test of one look fails here"
    )


def test_signs_answer_another_question_than_the_mean():
    rng = np.random.default_rng(6)
    symmetric = [
        exchangeable_p_values(row)[-1] <= LEVEL
        for row in nulls("symmetric", rng, 200, 400)
    ]
    skewed = [
        exchangeable_p_values(row)[-1] <= LEVEL
        for row in nulls("skewed", rng, 60, 1500)
    ]
    assert np.mean(symmetric) <= 0.08
    assert np.mean(skewed) > 0.5, "skewed differences of mean 0 are not exchangeable"


def test_p_of_signs_at_the_edges():
    assert exchangeable_p_values(np.zeros(0)).shape == (0,)
    assert exchangeable_p_values(np.zeros(5)).tolist() == [1.0] * 5
    assert exchangeable_p_values(np.array([3.0])).tolist() == [1.0], (
        "the first difference sets the scale of the next bets"
    )
    path = exchangeable_p_values(np.random.default_rng(0).normal(0.3, 1, 200))
    assert (np.diff(path) <= 0).all()


def test_the_sequence_of_a_population_ends_at_its_mean():
    values = np.random.default_rng(7).uniform(-1, 1, 50)
    looks = betting(values, [10, 30, 49, 50], population=50)
    assert all(look.low - 1e-9 <= values.mean() <= look.high + 1e-9 for look in looks)
    widths = [look.high - look.low for look in looks]
    assert widths == sorted(widths, reverse=True) and widths[-1] == pytest.approx(
        0.0, abs=1e-9
    )
    assert looks[-1].p_value == 0.0, "the mean is known, and it is not 0"
    balanced = np.array([0.1, -0.1, 0.3, -0.3])
    assert betting(balanced, [4], population=4)[0].p_value == 1.0


def test_false_alarms_about_a_population():
    rng = np.random.default_rng(8)
    values = np.where(np.arange(300) < 15, 0.95, -0.05)
    assert abs(values.mean()) < 1e-12
    alarms = [
        betting(rng.permutation(values), [300], population=300)[0].p_value <= LEVEL
        for _ in range(100)
    ]
    assert np.mean(alarms) <= 0.08
    shift = rng.permutation(np.clip(values + 0.3, -1, 1))
    assert (
        betting(shift, [150], population=300)[0].low > betting(shift, [150])[0].low
    ), "a known end makes it narrower"


def test_clusters_are_units():
    rng = np.random.default_rng(9)
    means = rng.uniform(-1, 1, 60)
    sums = 3 * means
    sizes = np.full(60, 3.0)
    (clustered,) = betting_looks(sums, sizes, 1.0, [60])
    (alone,) = betting(means, [60])
    assert (clustered.low, clustered.high) == pytest.approx((alone.low, alone.high))
    (independent,) = betting(np.repeat(means, 3), [180])
    assert independent.high - independent.low < clustered.high - clustered.low


def test_clusters_of_other_sizes_weigh_by_examples():
    sizes = np.array([1.0, 4.0] * 30)
    sums = sizes * np.array([0.9, 0.1] * 30)
    (look,) = betting_looks(sums, sizes, 1.0, [60])
    assert look.difference == pytest.approx(0.26) and look.low < 0.26 < look.high
    (cautious,) = betting_looks(sums, sizes, 1.0, [60], largest=8.0)
    assert cautious.low < look.low, "a larger unit may follow, so that less is bet"


def ratio(sums):
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[..., 0] / sums[..., 1]


def test_influences_are_those_of_the_jackknife():
    rng = np.random.default_rng(10)
    addends = rng.uniform(1, 3, (400, 2))
    found = influences(ratio, addends)
    total = addends.sum(axis=0)
    left_out = np.array([ratio(total - row) for row in addends])
    jackknife = (len(addends) - 1) * (ratio(total) - left_out)
    assert found == pytest.approx(jackknife, abs=0.01)
    assert found.mean() == pytest.approx(0.0, abs=1e-9)
    mean = influences(lambda sums: sums[..., 0] / len(addends), addends[:, :1])
    assert mean == pytest.approx(addends[:, 0] - addends[:, 0].mean())


@pytest.mark.parametrize("unit", [1e-6, 1e3, 1e9])
def test_influences_do_not_depend_on_the_unit_of_the_addends(unit):
    addends = np.random.default_rng(10).uniform(1, 3, (50, 2))
    assert influences(ratio, unit * addends) == pytest.approx(
        influences(ratio, addends), rel=1e-6, abs=1e-8
    )
    assert influences(ratio, addends * [unit, 1.0]) == pytest.approx(
        unit * influences(ratio, addends), rel=1e-6, abs=1e-8 * unit
    )


def test_influences_of_a_column_of_zeros_are_finite():
    addends = np.column_stack([np.arange(1.0, 6.0), np.ones(5), np.zeros(5)])
    assert np.isfinite(
        influences(lambda sums: ratio(sums[..., :2]) + sums[..., 2], addends)
    ).all()


def test_the_asymptotic_sequence_begins_at_the_first_look():
    rng = np.random.default_rng(11)
    a, b = (
        np.column_stack([rng.normal(mean, 0.2, 800), np.ones(800)])
        for mean in (0.5, 0.4)
    )
    early, first, last = asymptotic_looks(
        ratio, a, b, [FIRST_LOOK - 1, FIRST_LOOK, 800]
    )
    assert (early.low, early.high, early.p_value, early.waits) == (
        -inf,
        inf,
        1.0,
        "199 of 200 examples",
    )
    assert first.low < first.difference < first.high and np.isfinite(first.high)
    assert (
        last.high - last.low < first.high - first.low and last.p_value <= first.p_value
    )
    assert last.low > 0
    (alone,) = asymptotic_looks(ratio, a, None, [800])
    assert alone.low < 0.5 < alone.high and alone.difference == pytest.approx(
        ratio(a.sum(axis=0))
    )


def test_p_and_the_asymptotic_sequence_agree():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = (
            np.column_stack([rng.normal(mean, 1.0, 600), np.ones(600)])
            for mean in (0.15, 0.0)
        )
        excluded = False
        for look in asymptotic_looks(ratio, a, b, [200, 300, 450, 600]):
            excluded |= look.low > 0 or look.high < 0
            assert (look.p_value <= LEVEL) == excluded


def test_the_asymptotic_radius_is_that_of_the_theorem():
    values = np.random.default_rng(12).normal(0, 1, 400)
    (look,) = asymptotic_looks(
        lambda sums: sums[..., 0] / sums[..., 1],
        np.column_stack([values, np.ones(400)]),
        None,
        [400],
    )
    rho2 = (-2 * log(LEVEL) + log(-2 * log(LEVEL) + 1)) / FIRST_LOOK
    radius = values.std() * np.sqrt(
        2 * (400 * rho2 + 1) / (400**2 * rho2) * np.log(np.sqrt(400 * rho2 + 1) / LEVEL)
    )
    assert (look.high - look.low) / 2 == pytest.approx(radius, rel=1e-6)


@pytest.mark.slow
def test_false_alarms_of_the_asymptotic_sequence():
    rng = np.random.default_rng(13)
    looks = range(FIRST_LOOK, 601, 8)
    alarms = 0
    for _ in range(150):
        lengths = rng.integers(5, 12, 600)
        sides = [
            np.column_stack([rng.binomial(lengths, 0.4), lengths]).astype(float)
            for _ in range(2)
        ]
        alarms += asymptotic_looks(ratio, *sides, looks)[-1].p_value <= LEVEL
    assert alarms / 150 <= 0.09


@pytest.mark.parametrize("reach", [None, np.full(300, 300.0)])
def test_equal_systems_have_no_interval_and_no_evidence(reach):
    a = np.column_stack([np.arange(300.0), np.ones(300)])
    (look,) = asymptotic_looks(ratio, a, a, [300], reach=reach, unit="clusters")
    assert look == Look(300, 0.0, -inf, inf, 1.0, "no spread in 300 clusters")


def mean_columns(values):
    """Addends of two systems whose scores differ by values."""
    ones = np.ones(len(values))
    return np.column_stack([values + 1, ones]), np.column_stack([ones, ones])


@pytest.mark.parametrize(
    ("losses", "waits"),
    [
        (np.full(300, 0.001), "no spread in 300 examples"),
        (
            0.001 * np.random.default_rng(14).uniform(0.5, 1.5, 300),
            "0 examples differ in the other direction",
        ),
        (
            0.001 * np.random.default_rng(14).exponential(size=300),
            "the variance is that of 29 examples",
        ),
    ],
    ids=["equal", "uniform", "exponential"],
)
def test_small_losses_before_the_first_large_gain_are_no_evidence(losses, waits):
    """999 of 1,000 examples lose .001, or about as much, and one gains 1: most samples
    of 300 have losses alone.
    """
    a, b = mean_columns(-losses)
    (unknown,) = asymptotic_looks(ratio, a, b, [300])
    assert unknown.waits.startswith(waits) and (
        unknown.low,
        unknown.high,
        unknown.p_value,
    ) == (-inf, inf, 1.0)
    (known,) = asymptotic_looks(ratio, a, b, [300], reach=np.ones(300))
    assert known.p_value == 1.0 and known.high > 0


def test_what_has_not_occurred_widens_the_interval_within_a_known_range():
    values = 0.001 * np.random.default_rng(15).standard_normal(400) - 0.002
    a, b = mean_columns(values)
    (look,) = asymptotic_looks(ratio, a, b, [400], reach=np.ones(400))
    assert (look.high - look.low) / 2 == pytest.approx(log(2 / LEVEL) / 400)
    assert look.p_value == pytest.approx(
        min(1.0, 2 * np.exp(-400 * abs(values.mean())))
    )
    (narrow,) = asymptotic_looks(ratio, a, b, [400], reach=np.full(400, 0.01))
    assert narrow.high < 0 and narrow.p_value <= LEVEL, (
        "a smaller range cannot hide as much"
    )
    (wide,) = asymptotic_looks(ratio, a, b, [400], reach=np.ones(400), level=0.01)
    assert (wide.high - wide.low) / 2 == pytest.approx(log(2 / 0.01) / 400)


@pytest.mark.parametrize("reach", [0.05, 0.2, 1.0])
def test_p_and_the_sequence_of_a_known_range_agree(reach):
    for seed in range(20):
        a, b = mean_columns(
            0.05 * np.random.default_rng(seed).standard_normal(600) + 0.008
        )
        excluded = False
        for look in asymptotic_looks(
            ratio, a, b, [200, 300, 450, 600], reach=np.full(600, reach)
        ):
            excluded |= look.low > 0 or look.high < 0
            assert (look.p_value <= LEVEL) == excluded


def test_few_carriers_widen_the_interval_of_a_known_range_and_leave_others_without():
    values = np.where(np.arange(400) < 10, 1.0, 0.0) + 1e-3 * np.random.default_rng(
        16
    ).standard_normal(400)
    a, b = mean_columns(values)
    (look,) = asymptotic_looks(ratio, a, b, [400], reach=np.ones(400))
    rho2 = (-2 * log(LEVEL) + log(-2 * log(LEVEL) + 1)) / FIRST_LOOK
    radius = values.std() * np.sqrt(
        2 * (400 * rho2 + 1) / (400**2 * rho2) * np.log(np.sqrt(400 * rho2 + 1) / LEVEL)
    )
    carriers = np.sum((values - values.mean()) ** 2) ** 2 / np.sum(
        (values - values.mean()) ** 4
    )
    assert carriers == pytest.approx(10, rel=0.1)
    assert (look.high - look.low) / 2 == pytest.approx(
        radius * np.sqrt(40 / carriers), rel=1e-5
    )
    (unknown,) = asymptotic_looks(ratio, a, b, [400])
    assert (
        unknown.waits
        == "the variance is that of 11 examples, 40 are needed without a declared range"
        and unknown.p_value == 1.0
    )


def test_a_sum_that_nothing_contributed_to_has_no_interval():
    rng = np.random.default_rng(17)
    lengths = rng.integers(8, 12, 300).astype(float)
    counts = np.column_stack([rng.binomial(8, 0.5, 300), np.zeros(300), lengths])

    def of_sums(sums):
        return np.sqrt(sums[..., 0] * (sums[..., 1] + 1e-9)) / sums[..., 2]

    (look,) = asymptotic_looks(of_sums, counts, None, [300], reach=np.full(300, 1e-6))
    assert look.waits == "a sum of the number is 0 in all 300 examples"
    counts[::3, 1] = 1.0
    (look,) = asymptotic_looks(of_sums, counts, None, [300], reach=np.full(300, 1e-6))
    assert not look.waits and np.isfinite(look.high)


def test_p_stays_what_it_was_when_a_giant_takes_the_interval_away():
    values = np.random.default_rng(18).normal(0.5, 1, 300)
    values[299] = -1000.0
    first, second = asymptotic_looks(ratio, *mean_columns(values), [250, 300])
    assert first.p_value <= LEVEL and not first.waits
    assert (
        second.waits.startswith("the variance is that of 1 examples")
        and second.p_value == first.p_value
    )


def test_an_undefined_number_has_no_interval():
    (look,) = asymptotic_looks(ratio, np.zeros((250, 2)), None, [250])
    assert np.isnan(look.difference) and (look.low, look.high, look.p_value) == (
        -inf,
        inf,
        1.0,
    )
    assert look.waits == "the number is undefined"


def test_a_shifted_state_keeps_n_and_p():
    assert shift_look(Look(9, 0.1, -0.2, 0.4, 0.3), 0.5) == Look(
        9, 0.6, pytest.approx(0.3), 0.9, 0.3
    )
