"""Linear maps, by the fastest kernel there is for the machine.

For float32 on a CPU, torch sends a plain linear map to its BLAS, which on many machines (AMD's above all) runs at half the speed of
oneDNN's kernel or less. Where torch carries that kernel, it is used outside of training; numbers agree to float32 rounding.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


@cache
def _kernel() -> Any:
    """oneDNN's linear map on weights as they are stored; None where this build of torch has none."""
    if not torch.backends.mkldnn.is_available():
        return None
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """``x`` (..., inputs) @ ``weight`` (outputs, inputs; any strides) transposed, plus ``bias`` (outputs,)."""
    plain = torch.is_grad_enabled() or x.device.type != "cpu" or x.dtype != torch.float32 or x.numel() == 0
    if plain or not torch.backends.mkldnn.enabled or _kernel() is None:
        return F.linear(x, weight, bias)
    return _kernel()(x, weight, bias, "none", [], "")


class Linear(nn.Linear):
    """:class:`torch.nn.Linear` by :func:`linear`."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return linear(input, self.weight, self.bias)
