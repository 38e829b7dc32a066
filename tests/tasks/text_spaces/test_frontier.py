"""Frontiers, compatibility and divergences against golden values and definitions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness_tasks.text_spaces.frontier import (
    CR,
    LL,
    NRR,
    PAIRS,
    SE,
    Diversity,
    Pair,
    Quality,
    compatibility,
    distribution,
    divergence,
    pareto,
    psi,
)
from harness_tasks.text_spaces.qdisc import qdisc


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_exact_golden.json").read_text())


def test_frontier_points(golden):
    for toy in golden["toy"]:
        for point in toy["frontier"]:
            pair = PAIRS[point["pair"]]
            q = pareto(pair, toy["P"], point["w"])
            np.testing.assert_allclose(q, point["Q"], atol=1e-12)
            assert pair.u(q, np.array(toy["P"])) == pytest.approx(point["U"], rel=1e-12)
            assert pair.v(q) == pytest.approx(point["V"], rel=1e-12)


@pytest.mark.slow
def test_divergences_of_the_power_family(golden):
    for toy in golden["toy"]:
        p = np.array(toy["P"])
        for member in toy["beta_family"]:
            q = pareto(PAIRS["LL-SE"], p, -member["beta"])
            for name, value in (("LL-SE", "reverse_KL"), ("CR-NRR", "CND")):
                share = {"LL-SE": 2, "CR-NRR": 3}[name]
                assert divergence(PAIRS[name], q, p) == pytest.approx(
                    member[value] / share, abs=1e-12
                )
            assert PAIRS["LL-SE"].u(q, p) == pytest.approx(member["LL"], rel=1e-12)
            assert PAIRS["CR-SE"].v(q) == pytest.approx(member["SE"], rel=1e-12)


def test_theorem_3_separates_the_pairs():
    results = {
        name: compatibility(pair.quality, pair.diversity)
        for name, pair in PAIRS.items()
    }
    assert results["LL-SE"] is not None and results["CR-NRR"] is not None
    assert (results["LL-SE"].w0, results["LL-SE"].b0, results["LL-SE"].alpha) == (
        -1,
        -1,
        0.5,
    )
    assert (results["CR-NRR"].w0, results["CR-NRR"].b0, results["CR-NRR"].alpha) == (
        -2,
        0,
        pytest.approx(2 / 3),
    )
    assert results["LL-NRR"] is None
    assert results["CR-SE"] is None
    with pytest.raises(InputError, match="LL-NRR is not compatible"):
        psi(PAIRS["LL-NRR"], [0.5, 0.5], [0.5, 0.5])


distributions = st.lists(st.floats(0.01, 1), min_size=2, max_size=8).map(
    lambda x: np.array(x) / np.sum(x)
)


@pytest.mark.slow
@given(distributions, distributions, st.sampled_from(["LL-SE", "CR-NRR"]))
def test_divergences_of_compatible_pairs_are_positive_and_p_is_optimal(p, q, name):
    pair = PAIRS[name]
    assert divergence(pair, p, p) == 0
    if len(p) == len(q):
        assert divergence(pair, q, p) >= -1e-12
    w0 = {"LL-SE": -1, "CR-NRR": -2}[name]
    np.testing.assert_allclose(pareto(pair, p, w0), p, atol=1e-12)
    assert qdisc(pair, p).qdisc == pytest.approx(0, abs=1e-9)


@given(
    distributions,
    st.floats(-20, 0),
    st.sampled_from(sorted(PAIRS)),
    st.integers(0, 100),
)
def test_no_distribution_beats_the_frontier(p, w, name, seed):
    pair = PAIRS[name]
    best = pareto(pair, p, w)
    assert best.sum() == pytest.approx(1)
    other = np.random.default_rng(seed).dirichlet(np.ones(len(p)))
    # The frontier maximises -w U + V over all distributions.
    assert (
        -w * pair.u(best, p) + pair.v(best)
        >= -w * pair.u(other, p) + pair.v(other) - 1e-9
    )


@pytest.mark.parametrize("twin", [SE, NRR])
def test_any_g_by_bisection_equals_the_closed_forms(twin):
    p = np.array([0.5, 0.25, 0.15, 0.1])
    general = Pair(
        LL, Diversity("own", twin.g, twin.slope, twin.inverse_slope, twin.slope_at_zero)
    )
    for w in (0, -0.3, -1, -4):
        np.testing.assert_allclose(
            pareto(general, p, w), pareto(Pair(LL, twin), p, w), atol=1e-9
        )


def test_below_the_lowest_weight_of_theorem_2_q_is_uniform_on_the_modes():
    p = np.array([0.4, 0.4, 0.2])
    edge = -1 / 0.2
    np.testing.assert_allclose(
        pareto(PAIRS["CR-NRR"], p, edge), [0.5, 0.5, 0], atol=1e-12
    )
    assert pareto(PAIRS["CR-NRR"], p, edge * 0.99)[2] > 0


def test_impossible_texts_and_uniform_p():
    p = np.array([0.5, 0.5, 0.0])
    np.testing.assert_allclose(pareto(PAIRS["LL-SE"], p, -1), p)
    np.testing.assert_allclose(pareto(PAIRS["LL-NRR"], p, -1), p)
    assert qdisc(PAIRS["CR-SE"], np.full(4, 0.25)).qdisc == 0


def test_invalid_distributions_and_weights():
    with pytest.raises(InputError, match="P is no distribution"):
        distribution([0.5, 0.6])
    with pytest.raises(InputError, match="w is 1"):
        pareto(PAIRS["LL-SE"], [0.5, 0.5], 1)
    cubic = Diversity(
        "cubic", lambda x: -(x**3), lambda x: -3 * x**2, lambda y: np.sqrt(-y / 3), 0.0
    )
    coefficients = compatibility(Quality("square", lambda x: x * x), cubic)
    assert coefficients is not None and coefficients.w0 == -3
    assert CR.name == "CR"
