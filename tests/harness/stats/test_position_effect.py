"""Values that depend on their position within an example."""

from __future__ import annotations

import numpy as np
import pytest

from harness.stats.position_effect import position_p_value


def test_a_trend_within_examples_is_found():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5)) + 0.5 * np.arange(5)
    assert position_p_value(values, draws=100) == pytest.approx(1 / 101)


def test_differences_between_examples_are_no_effect():
    rng = np.random.default_rng(1)
    p = [position_p_value(rng.normal(size=(40, 4)) + 9 * rng.normal(size=(40, 1)), draws=99) for _ in range(100)]
    assert np.mean(np.array(p) <= 0.05) <= 0.12
    assert 0.4 < np.mean(p) < 0.6


def test_examples_may_have_different_numbers_of_values():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(200, 6)) + np.arange(6)
    values[::2, 3:] = np.nan
    assert position_p_value(values, draws=100) == pytest.approx(1 / 101)
    same = np.where(np.isnan(values), np.nan, 2.0)
    assert position_p_value(same, draws=10) == 1
