"""Permutation p-values: ties, units and parts of the null; the design of the test."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats.permutation_p_values import SCALE_VALUES, _with_head, p_values, plan

UNITS = st.integers(-12, 12).map(lambda exponent: 10.0**exponent)


def test_plan_falls_to_monte_carlo_beyond_the_budget_and_says_so():
    exact = plan(10, 10)
    assert (exact.method, exact.relabelings, exact.note) == ("exact", 184_756, "")
    assert exact.floor == 1 / 184_756
    beyond = plan(10, 15, method="exact", draws=999)
    assert (beyond.method, beyond.relabelings, beyond.floor) == (
        "monte-carlo",
        999,
        1 / 1000,
    )
    assert "3,268,760 relabelings, beyond the budget of 200,000" in beyond.note
    asked = plan(3, 3, method="monte-carlo")
    assert (asked.method, asked.note, asked.seed) == ("monte-carlo", "", 0)
    with pytest.raises(ValueError, match="method is exact, monte-carlo or auto"):
        plan(3, 3, method="exakt")


def test_p_values_count_the_observed_one_and_ties():
    null = np.array([[2.0, 1.0, 2.0 - 1e-9, 3.0]])
    upper = p_values(np.array([2.0]), [null[:, :2], null[:, 2:]], "upper", "exact")
    lower = p_values(np.array([2.0]), [null], "lower", "exact")
    drawn = p_values(np.array([9.0]), [null], "upper", "monte-carlo")
    assert upper.tolist() == [0.75]
    assert lower.tolist() == [0.75]
    assert drawn.tolist() == [0.2]


def test_p_value_of_an_undefined_score_is_undefined_and_an_undefined_null_never_helps():
    null = np.array([[1.0, np.nan], [1.0, np.nan]])
    p = p_values(np.array([np.nan, 2.0]), [null], "upper", "exact")
    assert np.isnan(p[0])
    assert p[1] == 0.5


@given(
    st.integers(0, 10**6), UNITS, st.sampled_from(["upper", "lower"]), st.integers(0, 4)
)
def test_p_values_do_not_depend_on_the_unit(seed, unit, tail, levels):
    rng = np.random.default_rng(seed)
    null = (
        rng.integers(-levels, levels + 1, (3, 400)) / 7
        if levels
        else rng.normal(size=(3, 400))
    )
    null *= 1 + 1e-15 * rng.normal(size=null.shape)  # rounding errors of equal values
    p = p_values(null[:, 0], [null], tail, "exact")
    scaled = null * unit
    assert np.array_equal(p_values(scaled[:, 0], [scaled], tail, "exact"), p)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_values_that_are_zero_up_to_rounding_are_ties(unit):
    null = np.array([[3e-17, 0.0, -2e-17, 0.5]]) * unit
    assert p_values(null[:, 0], [null], "upper", "exact").tolist() == [1.0]
    assert p_values(null[:, 0], [null], "lower", "exact").tolist() == [0.75]


@pytest.mark.parametrize("size", [1, 7, 100, 256, 1000])
def test_division_into_chunks_changes_no_p_value(size):
    rng = np.random.default_rng(0)
    null = rng.integers(0, 5, (4, 600)) + 1e-16 * rng.normal(size=(4, 600))
    null[:, 500] = 1e9  # beyond the values that set the scale
    parts = [null[:, start : start + size] for start in range(0, 600, size)]
    expected = p_values(null[:, 0], [null], "upper", "exact")
    assert np.array_equal(p_values(null[:, 0], iter(parts), "upper", "exact"), expected)


def test_infinite_values_do_not_make_everything_a_tie():
    null = np.array([[1.0, np.inf, 0.5, -np.inf], [np.inf, 0.0, 1.0, 2.0]])
    assert p_values(null[:, 0], [null], "upper", "exact").tolist() == [
        0.5,
        0.25,
    ]


def test_a_tolerance_replaces_the_default():
    null = np.array([[1.0, 0.9, 0.5]])
    p = p_values(null[:, 0], [null], "upper", "exact", tolerance=np.array([0.2]))
    assert p.tolist() == [2 / 3]


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_the_scale_is_read_from_the_same_values_whatever_the_chunks(size):
    null = np.arange(6 * 2000.0).reshape(6, 2000)
    chunks = iter([null[:, k : k + size] for k in range(0, 2000, size)])
    head, every = _with_head(chunks)
    assert np.array_equal(np.concatenate(head, axis=1), null[:, :SCALE_VALUES])
    assert np.array_equal(np.concatenate(list(every), axis=1), null)
