"""What a sample must show before an asymptotic confidence sequence says anything."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.readiness import (
    CARRIERS,
    OPPOSITE,
    VALUES,
    change_by_absent,
    count_carriers,
    find_shortage,
)


def shortage(values, *, ranged=False, paired=True):
    values = np.asarray(values, dtype=float)
    scale = 1.0 if ranged else float(np.abs(values).max())
    return find_shortage(
        values - values.mean(),
        float(values.mean()),
        scale,
        ranged=ranged,
        paired=paired,
        unit="examples",
    )


def test_carriers_are_a_third_of_normal_differences_and_the_number_of_rare_ones():
    normal = np.random.default_rng(0).standard_normal(3000)
    assert count_carriers(normal) == pytest.approx(1000, rel=0.1)
    assert count_carriers(7 * normal) == pytest.approx(count_carriers(normal)), (
        "they have no unit"
    )
    rare = np.where(np.arange(1000) < 6, 1.0, 0.0)
    assert count_carriers(rare - rare.mean()) == pytest.approx(6, rel=0.05)
    assert count_carriers(np.zeros(5)) == 0.0


def test_equal_values_have_no_spread_whatever_rounding_leaves():
    assert shortage(np.zeros(300), ranged=True) == "no spread in 300 examples"
    rounded = 0.1 + np.random.default_rng(1).uniform(-1e-17, 1e-17, 1200)
    for ranged in (True, False):
        assert shortage(rounded, ranged=ranged) == "no spread in 1,200 examples"
    assert shortage(
        1e-18 * np.random.default_rng(1).standard_normal(300), ranged=True
    ), "constants of a toolkit within a range of 1"


def test_a_score_without_a_range_needs_carriers():
    rng = np.random.default_rng(2)
    few = np.where(np.arange(1000) < 12, 1.0, 0.0) + 1e-3 * rng.standard_normal(1000)
    assert (
        shortage(few)
        == "the variance is that of 12 examples, 40 are needed without a declared range"
    )
    assert shortage(few, ranged=True) == ""
    assert (
        shortage(
            np.where(np.arange(400) < CARRIERS + 5, 1.0, 0.0)
            + 1e-3 * rng.standard_normal(400)
        )
        == ""
    )


@pytest.mark.parametrize("count", [VALUES - 1, VALUES])
def test_a_score_without_a_range_needs_many_values(count):
    values = np.tile(np.arange(count) - count / 2, 10)
    assert shortage(values) == (
        ""
        if count == VALUES
        else "39 different values, 40 are needed without a declared range"
    )
    assert shortage(values, ranged=True) == ""


@pytest.mark.parametrize("opposite", [OPPOSITE - 1, OPPOSITE])
@pytest.mark.parametrize("sign", [1, -1])
def test_differences_without_a_range_need_both_directions(opposite, sign):
    values = np.random.default_rng(3).uniform(0.1, 1.5, 600)
    values[:opposite] *= -1
    assert shortage(sign * values) == (
        ""
        if opposite == OPPOSITE
        else "9 examples differ in the other direction, "
        "10 are needed without a declared range"
    )
    assert (
        shortage(sign * values, ranged=True)
        == ""
        == shortage(sign * values, paired=False)
    )


def test_ties_are_no_direction():
    values = np.concatenate(
        [np.zeros(100), np.random.default_rng(4).uniform(0.5, 1.5, 200)]
    )
    assert shortage(values).startswith("0 examples differ in the other direction")


def product(sums):
    return np.sqrt(sums[..., 0] * sums[..., 1]) / sums[..., 2]


def test_a_sum_of_zeros_is_asked_what_a_few_examples_would_make_of_it():
    addends = np.column_stack([np.full(100, 2.0), np.zeros(100), np.full(100, 4.0)])
    # The mean of what is not 0 is 3: five units add 15 to the sum of zeros.
    assert change_by_absent(product, addends, 5.0) == pytest.approx(
        np.sqrt(200 * 15) / 400
    )
    addends[0, 1] = 1.0
    assert change_by_absent(product, addends, 5.0) == 0.0
    assert change_by_absent(product, np.zeros((9, 3)), 5.0) == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        assert (
            change_by_absent(
                lambda sums: sums[..., 0] / sums[..., 1] * np.nan,
                addends[:, :2] * [1, 0],
                1.0,
            )
            == 0.0
        )
