"""Exact discrepancies against golden values and the frontier."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_tasks.text_spaces.frontier import PAIRS, pareto
from harness_tasks.text_spaces.qdisc import ascend, qdisc


@pytest.fixture(scope="module")
def golden(golden):
    return json.loads((golden / "crnrr/crnrr_exact_golden.json").read_text())


def test_golden_discrepancies(golden):
    for case in golden["toy"]:
        for name, expected in case["qdisc"].items():
            result = qdisc(PAIRS[name], case["P"])
            assert result.qdisc == pytest.approx(expected["QDisc"], abs=1e-9)
            assert result.drate == pytest.approx(expected["DRate"], abs=1e-9)
    for case in golden["synthetic"]:
        for name, expected in case["qdisc_text_space"].items():
            assert qdisc(PAIRS[name], case["P"]).qdisc == pytest.approx(
                expected["QDisc"], abs=1e-9
            )


@pytest.mark.slow
def test_ascent_comes_close_to_the_exact_value():
    import torch

    p = np.random.default_rng(1).dirichlet(np.ones(10))
    values = torch.tensor(p)
    exact = qdisc(PAIRS["CR-SE"], p)
    result = ascend(
        lambda q: (q * values).sum(),
        lambda q: -(q * torch.log(q)).sum(),
        p,
        rng=np.random.default_rng(0),
        starts=1,
        rates=(0.03,),
    )
    assert 0.999 * exact.qdisc < result.qdisc <= exact.qdisc + 1e-9
    assert result.drate == pytest.approx(
        result.qdisc / exact.qdisc * exact.drate, rel=1e-6
    )
    more = ascend(  # starts beyond the rates begin beside P
        lambda q: (q * values).sum(),
        lambda q: -(q * torch.log(q)).sum(),
        p,
        rng=np.random.default_rng(0),
        starts=2,
        rates=(0.03,),
    )
    assert result.qdisc <= more.qdisc <= exact.qdisc + 1e-9


distributions = st.lists(st.floats(0.01, 1), min_size=2, max_size=6).map(
    lambda x: np.array(x) / np.sum(x)
)


@given(distributions, st.sampled_from(sorted(PAIRS)))
def test_the_optimum_loses_no_diversity(p, name):
    pair = PAIRS[name]
    result = qdisc(pair, p)
    assert result.qdisc >= -1e-9 and -1e-9 <= result.drate <= 1 + 1e-9
    assert pair.v(result.q) >= pair.v(p) - 1e-9
    assert result.w is not None
    np.testing.assert_allclose(pareto(pair, p, result.w), result.q)
