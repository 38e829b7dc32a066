"""Linear layers with oneDNN's kernel on a CPU, and sub-layers of BERT built on them.

For float32 on a CPU, torch computes a linear layer with its BLAS, which on many
machines (especially AMD's) has half the speed of oneDNN's kernel or less. Outside of
training, the kernel is used if torch provides it; results agree to float32 rounding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@cache
def _kernel() -> Any:
    """Return oneDNN's linear operator on weights that are not repacked;
    None if this build of torch has none.
    """
    if not torch.backends.mkldnn.is_available():
        return None
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """Return ``x @ weight.T + bias``, shape (..., outputs).

    Parameters
    ----------
    x
        Inputs, shape (..., inputs).
    weight
        Weights, shape (outputs, inputs), with any strides.
    bias
        Bias, shape (outputs,), or None.
    """
    plain = (
        torch.is_grad_enabled()
        or x.device.type != "cpu"
        or x.dtype != torch.float32
        or x.numel() == 0
    )
    if plain or not torch.backends.mkldnn.enabled or _kernel() is None:
        return F.linear(x, weight, bias)
    return _kernel()(x, weight, bias, "none", [], "")


class Linear(nn.Linear):
    """:class:`torch.nn.Linear` computed by :func:`linear`."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return outputs (..., outputs) of ``input`` (..., inputs)."""
        return linear(input, self.weight, self.bias)


class SelfAttention(nn.Module):
    """Projections of an attention with BERT's key names."""

    def __init__(self, width: int, linear: type[nn.Linear] = nn.Linear) -> None:
        super().__init__()
        self.query, self.key, self.value = (linear(width, width) for _ in range(3))


class Output(nn.Module):
    """End of a sub-layer with BERT's key names: linear layer, dropout, residual and,
    unless ``eps`` is None, LayerNorm.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        dropout: float,
        eps: float | None,
        linear: type[nn.Linear] = nn.Linear,
    ) -> None:
        super().__init__()
        self.dense = linear(inputs, width)
        self.drop = nn.Dropout(dropout)
        self.LayerNorm = None if eps is None else nn.LayerNorm(width, eps=eps)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """Return the output (..., width) of ``x`` (..., inputs) beside a ``residual``
        (..., width).
        """
        x = self.drop(self.dense(x)) + residual
        return x if self.LayerNorm is None else self.LayerNorm(x)
