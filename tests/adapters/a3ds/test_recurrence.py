"""Recurrence of an LSTM."""

from __future__ import annotations

import pytest
import torch

from harness_models.a3ds.recurrence import Recurrence, hidden_states


@pytest.mark.parametrize("bfloat16", [False, True])
def test_the_hidden_states_are_those_of_torch(bfloat16):
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(3, 5, batch_first=True)
    inputs = torch.randn(2, 4, 3)
    with torch.no_grad():
        expected = lstm(inputs)[0]
        gates = (inputs @ dict(lstm.named_parameters())["weight_ih_l0"].T).transpose(
            0, 1
        )
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            states = hidden_states(lstm, gates)
    assert states.shape == (4, 2, 5)
    torch.testing.assert_close(
        states.transpose(0, 1), expected, atol=0.02 if bfloat16 else 1e-6, rtol=0
    )


def test_the_gradients_are_those_of_finite_differences():
    torch.manual_seed(1)
    gates = torch.randn(4, 2, 12, dtype=torch.float64, requires_grad=True)
    recurrent = torch.randn(12, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Recurrence.apply, (gates, recurrent))
