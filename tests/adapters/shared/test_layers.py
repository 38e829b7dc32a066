"""Linear layers by oneDNN's kernel equal those of torch."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from harness_models.shared.layers import Linear, linear


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 8), (3, 8), (2, 5, 8), (0, 8)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_the_layer_equals_torch(dtype, shape, transposed, biased):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator).to(dtype)
    weight = (
        torch.randn(8, 6, generator=generator).to(dtype).t()
        if transposed
        else torch.randn(6, 8).to(dtype)
    )
    bias = torch.randn(6, generator=generator).to(dtype) if biased else None
    with torch.inference_mode():
        result = linear(x, weight, bias)
    assert result.shape == (*shape[:-1], 6)
    torch.testing.assert_close(
        result,
        F.linear(x, weight, bias),
        atol=2e-2 if dtype == torch.bfloat16 else 1e-5,
        rtol=0,
    )


def test_slices_and_gradients_agree_with_torch():
    layer = Linear(8, 6)
    x = torch.randn(4, 5, 8)[:, 1:3]
    with torch.no_grad():
        torch.testing.assert_close(
            layer(x), F.linear(x, layer.weight, layer.bias), atol=1e-6, rtol=0
        )
    layer(x).sum().backward()
    assert layer.weight.grad is not None
