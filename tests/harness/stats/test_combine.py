"""Combined p-values: by hand, against the closed forms, and under the null."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from harness.stats import combine


def test_harmonic_mean():
    assert combine.harmonic_mean_p([0.1, 0.2, 0.4]) == pytest.approx(3 / (10 + 5 + 2.5))
    assert combine.log_harmonic_mean_p([0.1, 0.1]) == pytest.approx(math.log(0.1))
    assert combine.harmonic_mean_p([0.1, 0.4], weights=[3, 1]) == pytest.approx(1 / (0.75 / 0.1 + 0.25 / 0.4))


def test_undefined_examples_are_left_out():
    assert combine.harmonic_mean_p([0.1, np.nan, 0.4]) == combine.harmonic_mean_p([0.1, 0.4])
    assert combine.harmonic_mean_p([0.1, np.nan], weights=[1, 5]) == pytest.approx(0.1)
    assert combine.fisher([0.1, np.nan]) == pytest.approx(0.1)
    assert combine.benjamini_hochberg([0.001, np.nan]).mask.tolist() == [True, False]


@pytest.mark.parametrize("bad", [[0.0], [1.1], [-0.1], [], [np.nan]])
def test_what_is_no_p_value_is_an_error(bad):
    for function in (combine.harmonic_mean_p, combine.harmonic_mean_test, combine.fisher, combine.benjamini_hochberg):
        with pytest.raises(ValueError, match="p-values"):
            function(bad)


def test_landau_tail_equals_scipy_where_scipy_has_it():
    stats = pytest.importorskip("scipy.stats")
    if not hasattr(stats, "landau"):
        pytest.skip("this scipy has no Landau distribution")
    for x in (-6, -3, -1, -0.1, 0.0, 1e-3, 0.3, 1, 5, 40, 1e4, 1e9):
        # scipy's scale 1 is the stable law's; ours has scale pi/2 and no shift by its logarithm
        wanted = stats.landau.sf((x - math.log(math.pi / 2)) * 2 / math.pi)
        assert combine.landau_tail(x) == pytest.approx(wanted, rel=1e-8, abs=1e-12)


def test_landau_tail_falls_from_one_to_one_over_x():
    values = [combine.landau_tail(x) for x in np.linspace(-8, 50, 200)]
    assert values[0] == pytest.approx(1)
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(values))
    assert combine.landau_tail(1e7) == pytest.approx(1e-7, rel=1e-5)


@pytest.mark.parametrize("tests", [20, 500])
def test_harmonic_mean_test_is_level_under_independent_nulls(tests):
    rng = np.random.default_rng(0)
    p = np.array([combine.harmonic_mean_test(rng.random(tests)) for _ in range(700)])
    for alpha in (0.01, 0.05, 0.1, 0.3, 0.5):
        # three standard errors of a share of 700, and the law is a limit: a little more for 20 tests
        assert abs((p <= alpha).mean() - alpha) < 3 * math.sqrt(alpha * (1 - alpha) / 700) + 0.1 / tests


def test_weighted_harmonic_mean_test_is_level():
    rng = np.random.default_rng(1)
    weights = np.repeat([1.0, 9.0], 50)
    p = np.array([combine.harmonic_mean_test(rng.random(100), weights) for _ in range(700)])
    for alpha in (0.01, 0.05, 0.2):
        assert abs((p <= alpha).mean() - alpha) < 3 * math.sqrt(alpha * (1 - alpha) / 700) + 0.002


def test_one_test_is_itself():
    assert combine.harmonic_mean_test([0.03]) == 0.03
    assert combine.fisher([0.03]) == pytest.approx(0.03)


def test_fisher():
    # two tests: P(U1 U2 <= t) = t (1 - log t)
    assert combine.fisher([0.1, 0.2]) == pytest.approx(0.02 * (1 - math.log(0.02)))


def test_benjamini_hochberg_steps_up():
    p = [0.04, 0.03, 0.9, 0.02, 0.011]
    # sorted .011 .02 .03 .04 .9 against .01 .02 .03 .04 .05: the fourth passes, and takes those before it along
    found = combine.benjamini_hochberg(p, fdr=0.05)
    assert found.count == 4
    assert found.mask.tolist() == [True, True, False, True, True]
    assert combine.benjamini_hochberg([0.5, 0.9]).count == 0
    with pytest.raises(ValueError, match="false discovery rate"):
        combine.benjamini_hochberg(p, fdr=1.0)
