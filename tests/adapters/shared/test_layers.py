"""Standardisation of features, and its removal from a checkpoint by folding it into the
first layer.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.gpt2 import Gpt2, Gpt2Sizes
from harness_models.shared.key_values import KeyValues
from harness_models.shared.layers import Linear, linear
from harness_models.shared.standardiser import Standardiser

SIZES = Gpt2Sizes(vocabulary=31, positions=16, width=12, layers=2, heads=3, inner=20)


def test_a_folded_layer_takes_features_that_are_not_standardised():
    random = np.random.default_rng(0)
    rows = (random.normal(size=(50, 4)) * [1, 10, 0.1, 0] + [0, 5, -3, 2]).astype(
        np.float32
    )
    standardiser = Standardiser.fit(rows)
    linear = torch.nn.Linear(4, 3)
    x = torch.from_numpy(rows)
    z = standardiser(x).numpy()
    np.testing.assert_allclose(z[:, :3].mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(z[:, :3].std(0), 1, atol=1e-4)
    # a constant column is shifted, not scaled
    assert np.array_equal(z[:, 3], np.zeros(50))
    tensors = {f"map.{name}": value for name, value in linear.state_dict().items()}
    folded = standardiser.fold_into({**tensors, "other": torch.ones(1)}, "map")
    assert set(folded) == {"map.weight", "map.bias", "other"}
    outputs = torch.nn.functional.linear(x, folded["map.weight"], folded["map.bias"])
    torch.testing.assert_close(outputs, linear(standardiser(x)), atol=1e-4, rtol=1e-4)


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


def test_the_cache_grows_and_selects_rows():
    cache = KeyValues.empty(2, 3)
    keys = torch.randn(2, 4, 9, 2, 5)  # layer, row, position, head, width
    rows = torch.arange(4)
    at = 0
    for size in (2, 1, 4, 1):
        for layer in range(2):
            new = keys[layer][rows, at : at + size]
            key, value = cache.put(layer, new, -new)
            assert torch.equal(key, keys[layer][rows, : at + size])
            assert torch.equal(value, -key)
        at += size
        cache.length = at
        index = torch.tensor([3, 0, 0, 1]) if at == 3 else torch.arange(4)
        cache = cache.take(index)
        rows = rows[index]
    assert cache.room >= 8


@pytest.fixture
def model() -> Gpt2:
    torch.manual_seed(0)
    model = Gpt2(SIZES).eval().requires_grad_(False)
    for weight in model.parameters():
        weight.add_(torch.randn_like(weight) * 0.3)
    return model


@pytest.mark.slow
def test_logits_equal_those_of_transformers(model: Gpt2):
    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=31, n_positions=16, n_embd=12, n_layer=2, n_head=3, n_inner=20
    )
    theirs = transformers.GPT2LMHeadModel(config).eval()
    theirs.load_state_dict(model.state_dict(), strict=True)
    tokens = torch.randint(0, 31, (4, 9))
    with torch.inference_mode():
        logits = model.logits(model(model.transformer.wte(tokens)))
        torch.testing.assert_close(logits, theirs(tokens).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("parts", [(9,), (4, 1, 1, 3), (1,) * 9])
def test_the_cache_does_not_change_hidden_states(model: Gpt2, parts: tuple[int, ...]):
    embeddings = torch.randn(3, 9, 12)
    with torch.inference_mode():
        expected = model(embeddings)
        cache = model.new_cache(2)
        hidden = torch.cat(
            [model(part, cache) for part in embeddings.split(parts, dim=1)], dim=1
        )
    assert cache.length == 9
    torch.testing.assert_close(hidden, expected, atol=1e-5, rtol=1e-5)


def test_masked_positions_do_not_change_the_others(model: Gpt2):
    embeddings = torch.randn(1, 6, 12)
    seen = torch.ones(1, 6, dtype=torch.bool)
    seen[0, 2] = False
    with torch.inference_mode():
        hidden = model(embeddings, seen=seen)
        other = embeddings.clone()
        other[0, 2, 0] += 5
        changed = model(other, seen=seen)
    torch.testing.assert_close(hidden[0, 3:], changed[0, 3:])
    assert not torch.allclose(hidden[0, 2], changed[0, 2])


def test_the_output_layer_is_tied_to_the_embeddings(model: Gpt2):
    assert model.lm_head.weight is model.transformer.wte.weight
