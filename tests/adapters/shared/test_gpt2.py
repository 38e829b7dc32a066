"""GPT-2: logits, cache, masked positions."""

from __future__ import annotations

import pytest
import torch

from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.gpt2 import Gpt2, Gpt2Sizes

SIZES = Gpt2Sizes(vocabulary=31, positions=16, width=12, layers=2, heads=3, inner=20)


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
