"""The policy gradient: samples, log-probabilities and baselines,
beside exact enumeration.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from harness_models.shared.training.policy_gradient import (
    chosen_log_probs,
    policy_loss,
    sample_tokens,
    spoken_slots,
    subtract_others,
)

STOP = 0
WORDS = 3


def step(tokens, state):
    """A model of three tokens whose logits depend on the last one;
    the state counts the calls.
    """
    table = torch.tensor([[0.0, 0.0, 0.0], [0.5, -1.0, 1.0], [1.0, 0.3, -2.0]])
    return table[tokens], state + 1


def test_samples_stop_at_their_first_end():
    start = torch.full((400,), 1)
    torch.manual_seed(0)
    tokens = sample_tokens(step, torch.zeros(1), start, 400, 6, stop=(STOP,), fill=9)

    spoken = spoken_slots(tokens, (STOP,))
    assert (tokens[~spoken] == 9).all() and (tokens[spoken] != 9).all()
    first = torch.tensor([0.5, -1.0, 1.0]).softmax(0)
    assert np.allclose(
        np.bincount(tokens[:, 0].numpy(), minlength=WORDS) / 400, first, atol=0.08
    )

    again = sample_tokens(
        step,
        torch.zeros(1),
        start,
        400,
        6,
        stop=(STOP,),
        fill=9,
        generator=torch.Generator().manual_seed(1),
    )
    same = sample_tokens(
        step,
        torch.zeros(1),
        start,
        400,
        6,
        stop=(STOP,),
        fill=9,
        generator=torch.Generator().manual_seed(1),
    )
    assert torch.equal(again, same)


def test_greedy_takes_the_likeliest_token():
    tokens = sample_tokens(
        step,
        torch.zeros(1),
        torch.full((2,), 1),
        2,
        4,
        stop=(STOP,),
        fill=9,
        greedy=True,
    )
    assert tokens.tolist() == [[2, 0, 9, 9]] * 2


def test_log_probabilities_of_captions_sum_those_of_their_own_tokens():
    tokens = torch.tensor([[2, 0, 9], [1, 1, 2]])
    log_probs = torch.randn(2, 3, 10).log_softmax(-1)
    found = chosen_log_probs(log_probs, tokens, spoken_slots(tokens, (STOP,)))
    assert found[0] == pytest.approx(float(log_probs[0, 0, 2] + log_probs[0, 1, 0]))
    assert found[1] == pytest.approx(
        float(log_probs[1, 0, 1] + log_probs[1, 1, 1] + log_probs[1, 2, 2])
    )


@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=4, max_size=4), min_size=1, max_size=3)
)
def test_the_baseline_is_the_mean_of_the_other_samples(rows):
    scores = torch.tensor(rows, dtype=torch.float64)
    expected = [
        [row[i] - np.mean(row[:i] + row[i + 1 :]) for i in range(4)] for row in rows
    ]
    assert np.allclose(subtract_others(scores).numpy(), expected, atol=1e-12)


def enumerated_gradient(advantages_of):
    """Expected gradient of the loss over all pairs of samples of a policy over three
    captions, and the policy's weights.
    """
    weights = torch.tensor([0.3, -0.4, 1.1], dtype=torch.float64, requires_grad=True)
    log_policy = weights.log_softmax(0)
    total = torch.zeros(3, dtype=torch.float64)
    for pair in itertools.product(range(3), repeat=2):
        log_probs = log_policy[list(pair)]
        loss = policy_loss(advantages_of(pair, log_probs.detach()), log_probs)
        (gradient,) = torch.autograd.grad(loss, weights, retain_graph=True)
        total += gradient * log_probs.sum().exp().detach()
    return total, weights


def test_the_gradient_of_scores_is_unbiased():
    scores = torch.tensor([1.0, 4.0, -2.0], dtype=torch.float64)
    found, weights = enumerated_gradient(
        lambda pair, _: subtract_others(scores[list(pair)][None])[0]
    )
    (exact,) = torch.autograd.grad(-(weights.softmax(0) * scores).sum(), weights)
    assert torch.allclose(found, exact, atol=1e-10)


def test_the_gradient_of_credits_is_that_of_the_expected_score_of_the_set():
    def score(captions):  # number of different captions, less the square of a count
        return len(set(captions)) - captions.count(0) ** 2

    def credits(pair, _):
        return torch.tensor(
            [score(list(pair)) - score([pair[1 - i]]) for i in range(2)],
            dtype=torch.float64,
        )

    found, weights = enumerated_gradient(credits)
    policy = weights.softmax(0)
    expected = sum(
        policy[i] * policy[j] * score([i, j])
        for i, j in itertools.product(range(3), repeat=2)
    )
    # the loss is a mean over the two samples
    (exact,) = torch.autograd.grad(-expected / 2, weights)
    assert torch.allclose(found, exact, atol=1e-10)


def test_the_penalty_is_the_divergence_from_the_start():
    start = torch.tensor([0.0, 0.5, -0.5], dtype=torch.float64).log_softmax(0)
    found, weights = enumerated_gradient(
        lambda pair, log_probs: (
            -subtract_others((log_probs - start[list(pair)])[None])[0]
        )
    )
    (exact,) = torch.autograd.grad(
        (weights.softmax(0) * (weights.log_softmax(0) - start)).sum(), weights
    )
    assert torch.allclose(found, exact, atol=1e-10)
