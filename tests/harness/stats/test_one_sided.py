"""One-sided tests after Hall's transformation: bounds and p agree, monotone, and hold their level for skewed values."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy import stats

from harness.stats.one_sided import LEVEL, SkewedMean


def mean_of(values):
    return SkewedMean.of(float(values.mean()), values)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_and_p_values_agree(seed):
    mean = mean_of(np.random.default_rng(seed).exponential(1.0, 40) * (-1) ** seed)
    assert mean.p_below(mean.upper()) == pytest.approx(LEVEL)
    assert mean.p_above(mean.lower()) == pytest.approx(LEVEL)
    for step in (0.01, 0.3):
        assert mean.p_below(mean.upper() + step) < LEVEL < mean.p_below(mean.upper() - step)
        assert mean.p_above(mean.lower() - step) < LEVEL < mean.p_above(mean.lower() + step)


def test_both_sides_add_up_and_are_monotone():
    mean = mean_of(np.random.default_rng(1).lognormal(0, 1, 30))
    limits = np.linspace(mean.value - 3, mean.value + 3, 200)
    below = [mean.p_below(limit) for limit in limits]
    assert (np.diff(below) <= 0).all()
    assert [mean.p_above(limit) for limit in limits] == pytest.approx([1 - p for p in below])
    assert mean.lower() < mean.value < mean.upper()


def test_values_without_skewness_have_students_t():
    values = np.concatenate([np.arange(10.0), -np.arange(10.0)]) + 0.4
    mean = mean_of(values)
    test = stats.ttest_1samp(values, 1.0, alternative="less")
    assert mean.p_below(1.0) == pytest.approx(test.pvalue)
    assert mean.upper() == pytest.approx(values.mean() + stats.t.ppf(0.95, 19) * values.std(ddof=1) / np.sqrt(20))


def test_the_level_holds_on_both_sides_for_skewed_values():
    rng = np.random.default_rng(2)
    draws = np.where(rng.random((2000, 200)) < 0.05, 0.95, -0.05) + 0.01 * rng.normal(size=(2000, 200))
    means = [mean_of(row) for row in draws]
    errors = [np.mean([side <= LEVEL for side in sides]) for sides in zip(*((m.p_below(0.0), m.p_above(0.0)) for m in means))]
    student = [np.mean(stats.ttest_1samp(draws, 0.0, axis=1, alternative=side).pvalue <= LEVEL) for side in ("less", "greater")]
    assert max(errors) < LEVEL + 0.012
    assert max(student) > 1.5 * LEVEL, "Student's t passes too often what is at the margin"


def test_values_that_do_not_vary_are_certain():
    mean = SkewedMean.of(0.0, np.zeros(20))
    assert (mean.error, mean.lower(), mean.upper()) == (0.0, 0.0, 0.0)
    assert (mean.p_below(0.0), mean.p_below(0.1), mean.p_below(-0.1)) == (0.0, 0.0, 1.0)
    assert (mean.p_above(0.0), mean.p_above(0.1), mean.p_above(-0.1)) == (1.0, 1.0, 0.0)
    assert SkewedMean.of(0.3, np.full(20, 0.1)).error == 0.0, "nor do values that differ by rounding alone"


def test_one_unit_tells_nothing():
    mean = SkewedMean.of(0.3, np.zeros(1))
    assert (mean.lower(), mean.upper()) == (-inf, inf)
    assert mean.p_below(5.0) > LEVEL and mean.p_above(-5.0) > LEVEL


def test_the_number_that_decides():
    mean = SkewedMean(0.5, 0.1, 100)
    assert mean.n_to_decide(0.6) == pytest.approx(100 * (2.4865 * 0.1 / 0.1) ** 2)
    assert mean.n_to_decide(0.5) == inf
    rng = np.random.default_rng(3)
    count = round(mean.n_to_decide(0.6))
    decided = [mean_of(rng.normal(0.5, 1.0, count)).p_below(0.6) <= LEVEL for _ in range(500)]
    assert np.mean(decided) == pytest.approx(0.8, abs=0.06)
