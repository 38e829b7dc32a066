"""Mappers against their formulas."""

from __future__ import annotations

import torch

from harness_models.clipcap.mappers import MlpMapper, TransformerMapper


def test_mlp_mapper_equals_its_formula():
    torch.manual_seed(0)
    mapper = MlpMapper(clip=5, hidden=7, outputs=12)
    vectors = torch.randn(3, 5)
    first, _, last = mapper.model
    expected = (
        torch.tanh(vectors @ first.weight.T + first.bias) @ last.weight.T + last.bias
    )
    torch.testing.assert_close(mapper(vectors), expected)


def test_transformer_mapper_returns_the_positions_of_the_constants():
    torch.manual_seed(0)
    mapper = TransformerMapper(
        clip=5, clip_length=2, prefix_length=3, width=8, layers=0, heads=2, inner=16
    )
    result = mapper(torch.randn(4, 5))
    torch.testing.assert_close(result, mapper.prefix_const.expand(4, -1, -1))


def test_transformer_mapper_depends_on_the_clip_vector():
    torch.manual_seed(0)
    mapper = TransformerMapper(
        clip=5, clip_length=2, prefix_length=3, width=8, layers=1, heads=2, inner=16
    )
    one, two = mapper(torch.randn(2, 5))
    assert one.shape == (3, 8)
    assert not torch.allclose(one, two)


def test_attention_of_one_head_equals_softmax_of_scaled_products():
    torch.manual_seed(0)
    attention = (
        TransformerMapper(5, 2, 3, 8, layers=1, heads=1, inner=16)
        .transformer.layers[0]
        .attn
    )
    x = torch.randn(1, 4, 8)
    weight = attention.to_keys_values.weight
    keys = x @ weight[:8].T
    values = x @ weight[8:].T
    shares = (
        x @ attention.to_queries.weight.T @ keys.transpose(1, 2) / 8**0.5
    ).softmax(-1)
    expected = shares @ values @ attention.project.weight.T + attention.project.bias
    torch.testing.assert_close(attention(x), expected)
