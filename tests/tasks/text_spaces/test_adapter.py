"""Known distributions: scores by the chain rule, draws, and Pareto optima."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Decoding, Example, Scorer
from harness.errors import HarnessError, InputError
from harness_tasks.text_spaces.adapter import LstmOracle, ParetoOptimum, optimum
from harness_tasks.text_spaces.frontier import PAIRS, pareto
from harness_tasks.text_spaces.reader import SyntheticTexts

EXAMPLES = list(SyntheticTexts())


def test_the_scores_sum_to_the_distribution():
    oracle = LstmOracle(sigma=1.0)
    assert isinstance(oracle, Scorer)
    scores = [item[0] for item in oracle.score_references(EXAMPLES)]
    np.testing.assert_allclose(
        np.exp([s.log_probs.sum() for s in scores]), oracle.distribution(), rtol=1e-12
    )
    assert {len(s.log_probs) for s in scores} == {3}
    first = {s.tokens[0]: (s.log_probs[0], s.ranks[0]) for s in scores}
    by_probability = sorted(first, key=lambda word: -first[word][0])
    assert [first[word][1] for word in by_probability] == [0, 1, 2, 3]


def test_texts_are_drawn_with_their_probabilities():
    oracle = LstmOracle(sigma=2.0, vocabulary=2, length=2)
    texts = [
        text
        for item in oracle.generate(EXAMPLES[:1], Decoding(candidates=4000), [5])
        for text in item
    ]
    names = [
        example.references[0] for example in SyntheticTexts(vocabulary=2, length=2)
    ]
    share = np.array([texts.count(name) for name in names]) / 4000
    # three standard deviations of 4000 draws
    np.testing.assert_allclose(share, oracle.distribution(), atol=0.03)


def test_a_text_with_probability_zero_scores_minus_infinity():
    model = ParetoOptimum(pair="CR-NRR", diversity=0.1, sigma=2.0)
    scores = [item[0].log_probs.sum() for item in model.score_references(EXAMPLES)]
    assert np.isneginf(min(scores))
    assert np.exp(scores).sum() == pytest.approx(1)


@pytest.mark.parametrize("name", list(PAIRS))
def test_optima_have_the_requested_diversity(name):
    pair = PAIRS[name]
    p = LstmOracle(sigma=1.0).distribution()
    most = pair.v(np.full(64, 1 / 64))
    least = pair.v((p == p.max()).astype(float))
    for share in (0.3, 0.8, 1.0):
        q = optimum(pair, p, share)
        assert pair.v(q) == pytest.approx(least + share * (most - least), abs=1e-6)
    assert optimum(pair, p, 0.0)[p.argmax()] == 1


def test_the_real_distribution_is_its_own_optimum_for_the_matched_pairs():
    p = LstmOracle(sigma=1.0).distribution()
    np.testing.assert_allclose(pareto(PAIRS["CR-NRR"], p, -2.0), p, atol=1e-12)


def test_invalid_input_is_refused():
    with pytest.raises(InputError, match="sigma is 0"):
        LstmOracle(sigma=0)
    with pytest.raises(HarnessError, match="did you mean 'LL-SE'"):
        ParetoOptimum(pair="LLSE", diversity=0.5, sigma=1.0)
    with pytest.raises(HarnessError, match="diversity is 2"):
        ParetoOptimum(pair="LL-SE", diversity=2, sigma=1.0)
    with pytest.raises(InputError, match="is not a text of 3 of the words w0 to w3"):
        list(LstmOracle(sigma=1.0).score_references([Example("1", ("a dog",))]))


def test_a_uniform_toy_distribution():
    p = LstmOracle(sigma="uniform", vocabulary=20, length=1).distribution()
    assert (
        p.shape == (20,) and p.sum() == pytest.approx(1) and len(set(p.tolist())) == 20
    )
    assert (
        p != LstmOracle(sigma="uniform", seed=1, vocabulary=20, length=1).distribution()
    ).all()
    assert "sigma:uniform" in LstmOracle(sigma="uniform").fingerprint()


def test_beta_is_a_power_of_the_real_distribution():
    p = LstmOracle(sigma=1.0).distribution()
    for beta in (0.0, 0.5, 1.0, 2.0):
        expected = p**beta / (p**beta).sum()
        np.testing.assert_allclose(
            ParetoOptimum(pair="LL-SE", beta=beta, sigma=1.0).distribution(), expected
        )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pair": "LL-SE"}, "either diversity or beta"),
        ({"pair": "LL-SE", "beta": 1, "diversity": 0.5}, "either diversity or beta"),
        ({"pair": "LL-SE", "beta": -1}, "beta is -1"),
        ({"pair": "CR-NRR", "beta": 1}, "for LL-SE"),
        ({"pair": "CR-NRR", "diversity": 2}, "share from 0 to 1"),
    ],
)
def test_positions_out_of_range(params, message):
    with pytest.raises(HarnessError, match=message):
        ParetoOptimum(sigma=1.0, **params)
