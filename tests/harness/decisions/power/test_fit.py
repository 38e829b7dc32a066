"""Fit of z-scores in n and m, and its error on held-out sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.decisions.power.fit import (
    SizeFit,
    SizeTrials,
    p_of_z,
    smallest_p,
    terms,
    z_scores,
)

SIZES = [(n, m) for n in (1, 2, 3, 4) for m in (1, 2, 3, 4) if n + m > 2]
EXAMPLES = 400
ROWS = np.vstack(
    [
        np.arange(EXAMPLES),
        np.random.default_rng(0).integers(EXAMPLES, size=(50, EXAMPLES)),
    ]
)


def normal_trials(
    n: int, m: int, mean: float, seed: int, examples: int = EXAMPLES
) -> SizeTrials:
    """Return p-values of normal z-scores about a mean."""
    z = np.random.default_rng([seed, n, m]).normal(mean, 1.0, size=(1, examples))
    return SizeTrials(
        n, m, p_of_z(z, smallest_p(n, m)), np.full(examples, smallest_p(n, m))
    )


def exact_fit(seed: int, add: float = 0.0) -> SizeFit:
    """Return the fit of sizes that follow the form; ``add`` is added to the mean of
    more than two candidates.
    """
    means = {
        size: float(terms(*size) @ [0.1, 0.4]) + add * (size[0] > 2) for size in SIZES
    }
    return SizeFit(
        {size: normal_trials(*size, mean, seed) for size, mean in means.items()},
        (4, 4),
        ROWS,
        0,
    )


@given(st.integers(1, 8), st.integers(1, 8), st.data())
def test_z_scores_and_p_values_are_inverse(n, m, data):
    floor = smallest_p(n, m)
    p = data.draw(st.integers(1, round(1 / floor))) * floor
    assert p_of_z(z_scores(np.array(p), np.array(floor)), floor) == pytest.approx(p)


@given(st.floats(-9, 9), st.integers(1, 8), st.integers(1, 8))
def test_p_values_of_z_scores_respect_the_floor(z, n, m):
    floor = smallest_p(n, m)
    assert floor <= p_of_z(np.array(z), floor) <= 1


def test_terms_are_those_of_the_formula():
    h = 4 * 6 / 10
    assert terms(4, 6) == pytest.approx([1.0, h])


@pytest.mark.parametrize("seed", range(5))
def test_the_form_error_grows_with_the_misfit_of_the_sizes_above_half_the_pilot(seed):
    exact = exact_fit(seed)
    misfit = exact_fit(seed, add=1.0)
    small = exact.form_error("candidates")
    large = misfit.form_error("candidates")
    assert small is not None and large is not None
    assert 0.3 < small.rate < 0.7 and large.rate > 1.5 * small.rate
    # two of the prior; three and four candidates are held out
    assert small.degrees == 4


@pytest.mark.parametrize("seed", range(5))
def test_sizes_that_follow_the_form_are_predicted(seed):
    values = list(exact_fit(seed).z_scores(8, 4))
    truth = float(terms(8, 4) @ [0.1, 0.4])
    means = np.array([item.mean() for item in values])
    assert len(values) == len(ROWS)
    # The mean of the pilot's 400 z-scores has a standard error of 0.05; small p-values
    # are rounded up.
    assert means[0] == pytest.approx(truth, abs=0.25)
    assert means[1:].min() < truth < means[1:].max()


def test_the_form_error_needs_sizes_of_at_most_half_the_pilot():
    sizes = {size: normal_trials(*size, 0.5, 0) for size in [(1, 2), (1, 3), (1, 5)]}
    fit = SizeFit(sizes, (1, 5), ROWS, 0)
    assert fit.form_error("candidates") is None  # one candidate has no half
    assert fit.form_error("references") is None  # one size has at most 2.5 references


def test_the_numbers_of_a_fit_do_not_move():
    fit = exact_fit(0)
    assert fit.form_error("candidates").rate == pytest.approx(
        0.4536451152445827, rel=1e-9
    )
    assert fit.form_error("references").rate == pytest.approx(
        0.4037408097550414, rel=1e-9
    )
    values = list(fit.z_scores(8, 6))
    assert [values[0].mean(), values[0].std()] == pytest.approx(
        [1.5213885060015155, 1.1159787783794117], rel=1e-9
    )
    assert [values[7].mean(), values[7].std()] == pytest.approx(
        [1.4439697374370588, 1.1512317684892686], rel=1e-9
    )


def test_the_predicted_spread_follows_the_fitted_variances():
    fit = exact_fit(1)
    (_, variances), pilot = fit._fits, fit.sizes[4, 4].z
    before, after = (variances[0] @ [1.0, n * m / (n + m)] for n, m in ((4, 4), (8, 4)))
    assert next(iter(fit.z_scores(8, 4))).std() == pytest.approx(
        pilot.std() * np.sqrt(after / before), rel=1e-9
    )


def test_p_values_end_at_one_where_the_floor_divides_one_with_a_rest():
    assert p_of_z(np.array([-9.0, 9.0]), 0.3).tolist() == [1.0, 0.3]
