"""One-sided tests after Hall's transformation: bounds and p agree, undecided samples,
the level, the number that decides.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from harness.decisions.statistics.one_sided import FEWEST, FEWEST_REPEATED, SkewedMean
from harness.decisions.statistics.sample_size import LEVEL


def mean_of(values, differ=None):
    return SkewedMean.of(float(values.mean()), values, differ)


def slow_p_below(values, limit):
    """Return the p-value of the definition, term by term."""
    n = len(values)
    centred = values - values.mean()
    deviation = np.sqrt(np.mean(centred**2))
    skewness = np.mean(centred**3) / deviation**3
    pessimistic = skewness + max(skewness, 0) + 0.25 * sqrt(6 / n)
    shift = 0.5 * np.abs(centred).max() / max(n, 100)
    t = (values.mean() - limit + shift) / (deviation / sqrt(n - 1))
    found = []
    for skew in (pessimistic, np.clip(pessimistic, -0.3 * sqrt(n), 0.3 * sqrt(n))):
        transformed = (
            t
            + skew * t**2 / (3 * sqrt(n))
            + skew**2 * t**3 / (27 * n)
            + skew / (6 * sqrt(n))
        )
        found.append(stats.t.cdf(transformed, n - 1))
    return max(found)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_and_p_values_agree(seed):
    mean = mean_of(np.random.default_rng(seed).gamma(20.0, 1.0, 90) * (-1) ** seed)
    assert mean.p_below(mean.upper()) == pytest.approx(LEVEL)
    assert mean.p_above(mean.lower()) == pytest.approx(LEVEL)
    for step in (0.01, 0.3):
        assert (
            mean.p_below(mean.upper() + step)
            < LEVEL
            < mean.p_below(mean.upper() - step)
        )
        assert (
            mean.p_above(mean.lower() - step)
            < LEVEL
            < mean.p_above(mean.lower() + step)
        )


@pytest.mark.parametrize("seed", range(3))
def test_the_p_value_is_that_of_its_definition(seed):
    values = np.random.default_rng(seed).gamma(20.0, 1.0, 60)
    mean = mean_of(values)
    for limit in values.mean() + np.array([-1.0, 0.0, 1.5]):
        assert mean.p_below(limit) == pytest.approx(slow_p_below(values, limit))
        assert mean_of(-values).p_above(-limit) == pytest.approx(
            slow_p_below(values, limit)
        )


def test_p_values_are_monotone():
    mean = mean_of(np.random.default_rng(1).gamma(20.0, 1.0, 60))
    limits = np.linspace(mean.value - 3, mean.value + 3, 200)
    assert (np.diff([mean.p_below(limit) for limit in limits]) <= 0).all()
    assert (np.diff([mean.p_above(limit) for limit in limits]) >= 0).all()
    assert mean.lower() < mean.value < mean.upper()


def test_many_values_without_skewness_have_nearly_students_t():
    values = np.random.default_rng(2).normal(size=4000)
    mean = mean_of(values)
    test = stats.ttest_1samp(values, 0.04, alternative="less")
    assert (
        mean.p_below(0.04) == pytest.approx(test.pvalue, rel=0.15)
        and mean.p_below(0.04) >= test.pvalue
    )
    assert mean.upper() == pytest.approx(
        values.mean() + stats.t.ppf(0.95, 3999) * values.std(ddof=1) / sqrt(4000),
        abs=1e-3,
    )


@pytest.mark.slow
def test_the_level_holds_on_both_sides_for_skewed_values():
    rng = np.random.default_rng(2)
    draws = np.where(rng.random((2000, 400)) < 0.05, 0.95, -0.05) + 0.01 * rng.normal(
        size=(2000, 400)
    )
    means = [mean_of(row) for row in draws]
    errors = [
        np.mean([side <= LEVEL for side in sides])
        for sides in zip(*((m.p_below(0.0), m.p_above(0.0)) for m in means))
    ]
    student = [
        np.mean(stats.ttest_1samp(draws, 0.0, axis=1, alternative=side).pvalue <= LEVEL)
        for side in ("less", "greater")
    ]
    assert max(errors) < LEVEL + 0.012
    assert max(student) > 1.25 * LEVEL, (
        "Student's t passes too often what is at the margin"
    )


def assert_undecided(mean, reason):
    assert reason in mean.reason
    assert (mean.lower(), mean.upper()) == (-inf, inf)
    assert mean.p_below(1e9) == mean.p_above(-1e9) == 1.0


def test_values_that_do_not_vary_decide_nothing():
    assert_undecided(mean_of(np.zeros(20)), "no difference varies")
    assert_undecided(mean_of(np.full(500, 0.1)), "no difference varies")
    assert_undecided(mean_of(np.full(20, 0.1) + 1e-17), "no difference varies")
    assert mean_of(np.zeros(20)).n_to_decide(0.1) == inf


def test_one_unit_tells_nothing():
    assert_undecided(mean_of(np.zeros(1)), "there is one unit")
    assert_undecided(SkewedMean.of(0.3, np.zeros(0)), "there is one unit")


def test_few_that_differ_decide_nothing():
    values = np.zeros(400)
    values[: FEWEST - 1] = np.random.default_rng(0).normal(size=FEWEST - 1)
    assert_undecided(mean_of(values), "19 of 400 differ, 20 have to")
    differ = np.arange(400) < 19
    assert_undecided(
        mean_of(np.random.default_rng(1).normal(size=400), differ), "19 of 400 differ"
    )
    assert mean_of(values).least == pytest.approx(400 * 20 / 19)


def test_differences_of_few_values_have_to_be_more():
    rng = np.random.default_rng(3)
    grades = rng.choice([-2.0, -1.0, 1.0, 2.0], FEWEST_REPEATED - 1)
    assert_undecided(
        mean_of(grades),
        "299 of 299 differ, 300 have to where differences take few values",
    )
    assert mean_of(rng.choice([-2.0, -1.0, 1.0, 2.0], FEWEST_REPEATED)).reason == ""


def test_a_few_large_values_decide_nothing():
    rng = np.random.default_rng(4)
    values = 0.1 * rng.normal(size=300)
    values[:6] = rng.normal(size=6) + np.array([3, -3, 3, -3, 3, -3])
    assert_undecided(mean_of(values), "a few decide the mean, as if ")
    assert 300 < mean_of(values).least < 2000
    repeated = np.tile(values, 12)
    assert mean_of(repeated).reason == "", "many of them decide"


def test_the_side_of_a_skewed_sample_is_undecided_before_the_other():
    values = np.where(np.arange(22) < 4, 1.0, 0.0) + 0.01 * np.random.default_rng(
        6
    ).normal(size=22)
    mean = mean_of(values)
    assert mean.skewness > 0.3 * sqrt(22) and not mean.reason
    assert mean.upper() == inf and mean.lower() > -inf
    mirrored = mean_of(-values)
    assert mirrored.lower() == -inf and mirrored.upper() < inf


def test_the_number_that_decides():
    mean = SkewedMean(0.5, 0.1, 100)
    assert mean.n_to_decide(0.6) == pytest.approx(
        100 * (2.4865 * 0.1 / 0.1) ** 2, rel=0.02
    )
    assert mean.n_to_decide(0.5) == inf
    assert (
        mean.n_to_decide(0.4, 0.01)
        > mean.n_to_decide(0.4)
        == pytest.approx(mean.n_to_decide(0.6), rel=0.05)
    )
    rng = np.random.default_rng(3)
    seen = mean_of(rng.normal(0.5, 1.0, 100) * 1.0)
    count = int(seen.n_to_decide(seen.value + 0.2))
    decided = [
        mean_of(rng.normal(seen.value, seen.error * sqrt(99), count)).p_below(
            seen.value + 0.2
        )
        <= LEVEL
        for _ in range(500)
    ]
    assert np.mean(decided) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize("seed", range(20))
def test_the_number_that_decides_is_larger_than_one_that_did_not(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 900))
    mean = mean_of(rng.gamma(rng.uniform(0.5, 4), 1.0, n))
    limit = mean.value + rng.uniform(0.5, 2.5) * mean.error
    assert mean.p_below(limit) <= LEVEL or mean.n_to_decide(limit) > n


def test_a_number_with_a_standard_error():
    mean = SkewedMean.of_error(0.2, 0.05, 100, 40)
    assert mean.lower() < 0.2 < mean.upper() and not mean.reason
    assert_undecided(
        SkewedMean.of_error(0.2, 0.05, 100, 19), "19 of 100 differ, 20 have to"
    )
    assert_undecided(SkewedMean.of_error(0.0, 0.0, 100, 40), "no difference varies")
    assert_undecided(SkewedMean.of_error(0.0, 0.0, 100, 0), "0 of 100 differ")
