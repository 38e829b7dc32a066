"""Corrections of residuals and degrees of freedom: against dense matrices,
the mean, and regressions.
"""

from __future__ import annotations

import numpy as np
import pytest

from harness.decisions.statistics.leverage import LinearEstimate


def test_factors_and_freedom_are_those_of_the_dense_matrices():
    rng = np.random.default_rng(1)
    weights = rng.normal(size=30)
    left = rng.normal(size=(30, 3)) / 10
    right = rng.normal(size=(30, 3)) / 10
    factors, freedom = LinearEstimate(weights, left, right).correct_residuals()
    kept = np.diag(weights) - left @ right.T
    square = kept @ kept.T
    assert factors == pytest.approx(weights**2 / np.diag(square), rel=1e-12)
    form = np.sqrt(np.outer(factors, factors)) * square
    assert freedom == pytest.approx(np.trace(form) ** 2 / np.sum(form**2), rel=1e-12)


@pytest.mark.parametrize("n", [2, 9, 40])
def test_a_mean_has_the_usual_factor_and_freedom(n):
    share = np.full((n, 1), 1 / n)
    factors, freedom = LinearEstimate(
        share[:, 0], share, share * n / n
    ).correct_residuals()
    assert factors == pytest.approx(np.full(n, n / (n - 1)))
    assert freedom == pytest.approx(n - 1)


@pytest.mark.parametrize("predictors", [1, 4])
def test_a_regression_has_the_factors_of_hc2(predictors):
    rng = np.random.default_rng(predictors)
    design = np.column_stack([np.ones(20), rng.normal(size=(20, predictors))])
    inverse = np.linalg.inv(design.T @ design)
    weights = design @ inverse @ [1.0, *np.full(predictors, 0.3)]
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    factors, freedom = LinearEstimate(
        weights, weights[:, None] * (design @ inverse), design
    ).correct_residuals()
    assert factors == pytest.approx(1 / (1 - leverage), rel=1e-9)
    assert 1 < freedom < 19 - predictors + 1e-9


def test_unequal_weights_have_few_degrees_of_freedom():
    weights = np.array([0.5, *np.full(50, 0.01)])
    share = weights[:, None]
    assert (
        LinearEstimate(weights, share * np.ones((51, 1)), share).correct_residuals()[1]
        < 2
    )


def test_a_unit_that_determines_its_own_fit_has_none():
    weights = np.array([0.5, 0.25, 0.25])
    # the first unit has a coefficient of its own
    design = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.5]])
    _, freedom = LinearEstimate(
        weights, weights[:, None] * (design > 0), design
    ).correct_residuals()
    assert freedom == 0
