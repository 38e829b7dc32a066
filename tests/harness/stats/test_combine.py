"""Combined p-values: by hand, against the closed forms, and under the null."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import combine

DESIGNS = (5, 10, 252, 1820)
P_VALUES = st.lists(
    st.sampled_from(DESIGNS).flatmap(
        lambda size: st.tuples(st.integers(1, size), st.just(size))
    ),
    min_size=1,
    max_size=30,
)


def test_harmonic_mean():
    assert combine.harmonic_mean_p([0.1, 0.2, 0.4]) == pytest.approx(3 / (10 + 5 + 2.5))
    assert combine.log_harmonic_mean_p([0.1, 0.1]) == pytest.approx(math.log(0.1))


def test_undefined_examples_are_left_out():
    assert combine.harmonic_mean_p([0.1, np.nan, 0.4]) == combine.harmonic_mean_p(
        [0.1, 0.4]
    )
    assert combine.fisher([0.1, np.nan]) == pytest.approx(0.1)
    assert combine.count_discoveries([0.001, np.nan]) == 1


@pytest.mark.parametrize("bad", [[0.0], [1.1], [-0.1], [], [np.nan]])
def test_what_is_no_p_value_is_an_error(bad):
    for function in (
        combine.harmonic_mean_p,
        combine.harmonic_mean_test,
        combine.fisher,
        combine.count_discoveries,
    ):
        with pytest.raises(ValueError, match="p-values"):
            function(bad)


def test_landau_tail_equals_scipy_where_scipy_has_it():
    stats = pytest.importorskip("scipy.stats")
    if not hasattr(stats, "landau"):
        pytest.skip("this scipy has no Landau distribution")
    for x in (-6, -3, -1, -0.1, 0.0, 1e-3, 0.3, 1, 5, 40, 1e4, 1e9):
        # scipy's scale 1 is the stable law's; ours has scale pi/2 and no shift by its
        # logarithm
        wanted = stats.landau.sf((x - math.log(math.pi / 2)) * 2 / math.pi)
        assert combine.landau_tail(x) == pytest.approx(wanted, rel=1e-8, abs=1e-12)


def test_landau_tail_falls_from_one_to_one_over_x():
    values = [combine.landau_tail(x) for x in np.linspace(-8, 50, 200)]
    assert values[0] == pytest.approx(1)
    assert all(a >= b - 1e-12 for a, b in itertools.pairwise(values))
    assert combine.landau_tail(1e7) == pytest.approx(1e-7, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("tests", [20, 500])
def test_harmonic_mean_test_is_level_under_independent_nulls(tests):
    rng = np.random.default_rng(0)
    p = np.array([combine.harmonic_mean_test(rng.random(tests)) for _ in range(700)])
    for alpha in (0.01, 0.05, 0.1, 0.3, 0.5):
        # three standard errors of a share of 700, and the law is a limit: a little more
        # for 20 tests
        assert (
            abs((p <= alpha).mean() - alpha)
            < 3 * math.sqrt(alpha * (1 - alpha) / 700) + 0.1 / tests
        )


def test_one_test_is_itself():
    assert combine.harmonic_mean_test([0.03]) == 0.03
    assert combine.fisher([0.03]) == pytest.approx(0.03)


def test_fisher():
    # two tests: P(U1 U2 <= t) = t (1 - log t)
    assert combine.fisher([0.1, 0.2]) == pytest.approx(0.02 * (1 - math.log(0.02)))


def test_benjamini_hochberg_steps_up():
    p = [0.04, 0.03, 0.9, 0.02, 0.011]
    # sorted .011 .02 .03 .04 .9 against .01 .02 .03 .04 .05: the fourth passes, and
    # takes those before it along
    assert combine.count_discoveries(p, fdr=0.05) == 4
    assert combine.count_discoveries([0.5, 0.9]) == 0
    for rate in (0.0, 1.0, 1.5):
        with pytest.raises(ValueError, match="false discovery rate"):
            combine.count_discoveries(p, fdr=rate)


def arrays(items):
    rank, size = np.array(items, dtype=float).T
    return rank / size, 1 / size


@given(P_VALUES, st.randoms(use_true_random=False), st.data())
def test_the_calibrated_p_is_monotone_and_invariant_under_order(items, random, data):
    p, floors = arrays(items)
    value = combine.log_calibrated_p(p, floors)
    assert value <= 0
    mixed = list(items)
    random.shuffle(mixed)
    assert combine.log_calibrated_p(*arrays(mixed)) == value
    index = data.draw(st.integers(0, len(items) - 1))
    rank, size = items[index]
    larger = [
        *items[:index],
        (data.draw(st.integers(rank, size)), size),
        *items[index + 1 :],
    ]
    assert combine.log_calibrated_p(*arrays(larger)) >= value - 1e-8


@given(
    st.sampled_from(DESIGNS).flatmap(
        lambda size: st.tuples(st.integers(1, size), st.just(size))
    )
)
def test_the_calibrated_p_of_one_example_is_its_own(item):
    p, floors = arrays([item])
    assert combine.calibrated_p(p, floors) == p[0]
    assert combine.calibrated_p([p[0], np.nan], [floors[0], np.nan]) == p[0]


@pytest.mark.parametrize(
    ("sizes", "examples"), [((5,), 50), ((252,), 200), ((3003, 1820), 300)]
)
def test_the_calibrated_p_is_uniform_under_the_null(sizes, examples):
    rng = np.random.default_rng(3)
    size = np.resize(sizes, examples)
    values = np.array(
        [
            combine.calibrated_p(rng.integers(1, size + 1) / size, 1 / size)
            for _ in range(2000)
        ]
    )
    for alpha in (0.01, 0.05, 0.2, 0.5, 0.9):
        assert abs((values <= alpha).mean() - alpha) < 3.5 * math.sqrt(
            alpha * (1 - alpha) / 2000
        )


def test_ties_make_the_calibrated_p_conservative():
    rng = np.random.default_rng(4)
    # two and three of the five relabelings tie
    tied = np.array([0.4, 0.4, 1.0, 1.0, 1.0])
    values = np.array(
        [combine.calibrated_p(rng.choice(tied, 50), 0.2) for _ in range(500)]
    )
    assert (values <= 0.05).mean() < 0.05


def test_the_calibrated_p_is_fishers_for_fine_p_values():
    p = np.random.default_rng(5).uniform(0.01, 0.9, 100)
    assert combine.calibrated_p(p, 1e-6) == pytest.approx(combine.fisher(p), rel=1e-2)


def test_the_calibrated_p_of_many_examples_keeps_its_logarithm():
    assert combine.calibrated_p(np.full(5000, 1 / 3003), 1 / 3003) == combine.SMALLEST
    assert combine.log_calibrated_p(np.full(5000, 1 / 3003), 1 / 3003) == pytest.approx(
        -5000 * math.log(3003)
    )


def test_floors_have_the_shape_of_the_p_values():
    with pytest.raises(
        ValueError, match=r"floors of shape \(2,\) for p-values of shape \(3,\)"
    ):
        combine.calibrated_p([0.2, 0.4, 0.6], [0.2, 0.2])
    with pytest.raises(ValueError, match=r"floors of p-values lie in \(0, 1\]"):
        combine.calibrated_p([0.2, 0.4], 0)
    with pytest.raises(ValueError, match="no p-values"):
        combine.calibrated_p([np.nan], 0.2)
