"""GPT-2 with its published key names, taking embeddings, and a key-value cache that grows in place.

Radford et al. 2019: pre-LayerNorm blocks, tanh-GELU, learned positions, tied output. Weights of the projections are stored
input x output. Sizes come from a state dict; only the number of heads does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from harness.adapters.shared.layers.dense import linear
from harness.adapters.shared.layers.key_values import KeyValues


@dataclass(frozen=True, kw_only=True)
class Gpt2Sizes:
    vocabulary: int
    positions: int
    width: int
    layers: int
    heads: int
    inner: int
    eps: float = 1e-5
    """Of the LayerNorms."""


class Projection(nn.Module):
    """A linear map with its weight stored input x output."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return linear(x, self.weight.t(), self.bias)


class Attention(nn.Module):
    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.c_attn = Projection(sizes.width, 3 * sizes.width)
        self.c_proj = Projection(sizes.width, sizes.width)

    def forward(self, x: torch.Tensor, cache: KeyValues | None, layer: int, seen: torch.Tensor | None) -> torch.Tensor:
        rows, length, width = x.shape
        query, key, value = self.c_attn(x).reshape(rows, length, 3, self.heads, width // self.heads).unbind(2)
        if cache is not None:
            key, value = cache.put(layer, key, value)
        before = key.shape[1] - length
        mask = None
        if seen is not None or (before and length > 1):
            mask = torch.ones(length, before + length, dtype=torch.bool, device=x.device).tril(before)
            mask = mask if seen is None else mask & seen[:, None, None]
        mixed = F.scaled_dot_product_attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            attn_mask=mask,
            is_causal=mask is None and length > 1,
        )
        return self.c_proj(mixed.transpose(1, 2).reshape(rows, length, width))


class FeedForward(nn.Module):
    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.c_fc = Projection(sizes.width, sizes.inner)
        self.c_proj = Projection(sizes.inner, sizes.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(sizes.width, eps=sizes.eps)
        self.attn = Attention(sizes)
        self.ln_2 = nn.LayerNorm(sizes.width, eps=sizes.eps)
        self.mlp = FeedForward(sizes)

    def forward(self, x: torch.Tensor, cache: KeyValues | None, layer: int, seen: torch.Tensor | None) -> torch.Tensor:
        x = x + self.attn(self.ln_1(x), cache, layer, seen)
        return x + self.mlp(self.ln_2(x))


class Trunk(nn.Module):
    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.wte = nn.Embedding(sizes.vocabulary, sizes.width)
        self.wpe = nn.Embedding(sizes.positions, sizes.width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.01)
        self.h = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.ln_f = nn.LayerNorm(sizes.width, eps=sizes.eps)


class Gpt2(nn.Module):
    """The language model; ``forward`` takes input embeddings, so that a prefix may stand before words."""

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.transformer = Trunk(sizes)
        self.lm_head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def new_cache(self, room: int) -> KeyValues:
        """An empty cache with room for so many positions (it grows when they are full)."""
        return KeyValues.empty(self.sizes.layers, room)

    def forward(
        self, embeddings: torch.Tensor, cache: KeyValues | None = None, seen: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Hidden states (R, T, width) after the last LayerNorm, given embeddings (R, T, width) that follow what ``cache`` holds;
        they are put into it.

        ``seen`` (R, T with the cached): False at positions that nothing may look at (padding); each row needs one that is True
        at its start.
        """
        before = cache.length if cache is not None else 0
        places = torch.arange(before, before + embeddings.shape[1], device=embeddings.device)
        x = embeddings + self.transformer.wpe(places)
        for layer, block in enumerate(self.transformer.h):
            x = block(x, cache, layer, seen)
        if cache is not None:
            cache.length += embeddings.shape[1]
        return self.transformer.ln_f(x)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(..., V) of hidden states (..., width)."""
        return linear(hidden, self.lm_head.weight, None)
