"""Recurrence of the one-layer LSTM of an agent, for training.

``torch.nn.LSTM`` multiplies the input of every position with the input weights. A
speaker reads the same two images at every position, and one of 47 words, so that
these products can be computed once for a batch. What remains is the recurrence: a
quarter of the operations of a speaker at the widths of the paper, half of those of a
listener.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def hidden_states(lstm: nn.LSTM, gates: torch.Tensor) -> torch.Tensor:
    """Return the hidden states (T, B, H) of a one-layer LSTM that starts from zeros.

    Parameters
    ----------
    lstm
        Source of the recurrent weights and biases.
    gates
        Contributions of the input to the gates (T, B, 4 H), without biases.

    Notes
    -----
    Under autocast the steps are ordinary operations, whose matrix products are computed
    in bfloat16.
    """
    weights = dict(lstm.named_parameters())
    gates = gates + (weights["bias_ih_l0"] + weights["bias_hh_l0"])
    if not torch.is_autocast_enabled("cpu"):
        return Recurrence.apply(gates, weights["weight_hh_l0"])

    # Under autocast the operations choose their own number formats, so that they are
    # left to torch.
    recurrent = weights["weight_hh_l0"].T
    hidden = cell = gates.new_zeros(gates.shape[1], lstm.hidden_size)
    out: list[torch.Tensor] = []
    for position in range(len(gates)):
        enter, forget, new, output = (gates[position] + hidden @ recurrent).chunk(
            4, dim=-1
        )
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        hidden = output.sigmoid() * cell.tanh()
        out.append(hidden)

    return torch.stack(out)


class Recurrence(torch.autograd.Function):
    """Hidden states of an LSTM from its input gates; the gradient of the recurrent
    weights is one matrix product over all positions.
    """

    @staticmethod
    def forward(ctx: Any, gates: torch.Tensor, recurrent: torch.Tensor) -> torch.Tensor:
        """Return the hidden states (T, B, H) for ``gates`` (T, B, 4 H) and recurrent
        weights (4 H, H).
        """
        length, batch, width = gates.shape
        size = width // 4
        # Row t + 1 holds the state after position t, so that row 0 is the zero state
        # and the backward pass finds every predecessor.
        hidden = gates.new_zeros(length + 1, batch, size)
        cells = gates.new_zeros(length + 1, batch, size)
        active = torch.empty_like(gates)
        transposed = recurrent.T

        for t in range(length):
            # torch orders the gates input, forget, candidate, output; the activations
            # overwrite the sums, which backward does not need.
            row = torch.addmm(gates[t], hidden[t], transposed, out=active[t])
            row[:, : 2 * size].sigmoid_()
            row[:, 2 * size : 3 * size].tanh_()
            row[:, 3 * size :].sigmoid_()
            enter, forget, new, out = row.split(size, dim=-1)
            torch.addcmul(forget * cells[t], enter, new, out=cells[t + 1])
            torch.mul(out, cells[t + 1].tanh(), out=hidden[t + 1])

        ctx.save_for_backward(hidden, cells, active, recurrent)
        return hidden[1:].clone()

    @staticmethod
    def backward(
        ctx: Any, *gradients: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the gradients of the gates and of the recurrent weights."""
        hidden, cells, active, recurrent = ctx.saved_tensors
        gradient = gradients[0]
        length, _, size = gradient.shape
        of_gates = torch.empty_like(active)
        of_cell = torch.zeros_like(cells[0])
        of_hidden = gradient[length - 1]

        for t in reversed(range(length)):
            enter, forget, new, out = active[t].split(size, dim=-1)
            # The cell's gradient comes from the next position and, through tanh, from
            # this position's hidden state.
            tanh = cells[t + 1].tanh()
            of_cell = of_cell + of_hidden * out * (1 - tanh * tanh)
            row = of_gates[t]
            torch.mul(of_cell * new, enter * (1 - enter), out=row[:, :size])
            torch.mul(
                of_cell * cells[t], forget * (1 - forget), out=row[:, size : 2 * size]
            )
            torch.mul(of_cell * enter, 1 - new * new, out=row[:, 2 * size : 3 * size])
            torch.mul(of_hidden * tanh, out * (1 - out), out=row[:, 3 * size :])
            of_cell = of_cell * forget
            if t:
                of_hidden = torch.addmm(gradient[t - 1], row, recurrent)
        # The weights are the same at all positions: their gradient, the costliest
        # product, is one for the whole sequence.
        of_recurrent = of_gates.flatten(0, 1).T @ hidden[:-1].flatten(0, 1)
        return of_gates, of_recurrent
