"""GPT-2 with its published key names, an interface for embeddings, and a key-value
cache that grows in place.

The blocks apply LayerNorm before attention and feed-forward layers, the activation is
the tanh approximation of GELU, positions are learned, and the output layer is tied to
the embeddings. The weights of projections are stored as (inputs, outputs). All sizes
except the number of heads can be derived from a state dict.

References
----------
Radford et al. (2019), Language Models are Unsupervised Multitask Learners.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from harness_models.shared.key_values import KeyValues
from harness_models.shared.layers import linear


@dataclass(frozen=True, kw_only=True)
class Gpt2Sizes:
    """Sizes of a GPT-2 model."""

    vocabulary: int
    positions: int
    """Maximum number of positions."""
    width: int
    """Width of the hidden states; a multiple of ``heads``."""
    layers: int
    heads: int
    inner: int
    """Width of the feed-forward layers."""
    eps: float = 1e-5
    """Epsilon of the LayerNorms."""


class Projection(nn.Module):
    """Linear layer whose weight is stored as (inputs, outputs)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.02)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return outputs (..., outputs) of ``x`` (..., inputs)."""
        return linear(x, self.weight.t(), self.bias)


class Attention(nn.Module):
    """Causal multi-head self-attention."""

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.c_attn = Projection(sizes.width, 3 * sizes.width)
        self.c_proj = Projection(sizes.width, sizes.width)

    def forward(
        self,
        x: torch.Tensor,
        cache: KeyValues | None,
        layer: int,
        seen: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return outputs (R, T, width) of ``x`` (R, T, width);
        see :meth:`Gpt2.forward` for ``seen``.

        The keys and values of ``x`` are appended to layer ``layer`` of ``cache``.
        """
        rows, length, width = x.shape
        parts = self.c_attn(x).reshape(rows, length, 3, self.heads, width // self.heads)
        query, key, value = parts.unbind(2)

        if cache is not None:
            key, value = cache.put(layer, key, value)

        before = key.shape[1] - length

        # torch's own causal mask begins at position 0; behind cached positions it is
        # made here.
        mask = None
        if seen is not None or (before and length > 1):
            shape = (length, before + length)
            mask = torch.ones(shape, dtype=torch.bool, device=x.device).tril(before)
            if seen is not None:
                mask = mask & seen[:, None, None]

        mixed = F.scaled_dot_product_attention(
            query.transpose(1, 2),
            key.transpose(1, 2),
            value.transpose(1, 2),
            attn_mask=mask,
            is_causal=mask is None and length > 1,
        )
        return self.c_proj(mixed.transpose(1, 2).reshape(rows, length, width))


class FeedForward(nn.Module):
    """Two projections with the tanh approximation of GELU between them."""

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.c_fc = Projection(sizes.width, sizes.inner)
        self.c_proj = Projection(sizes.inner, sizes.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return outputs (..., width) of ``x`` (..., width)."""
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    """One layer: attention and feed-forward layer,
    each after a LayerNorm and with a residual connection.
    """

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(sizes.width, eps=sizes.eps)
        self.attn = Attention(sizes)
        self.ln_2 = nn.LayerNorm(sizes.width, eps=sizes.eps)
        self.mlp = FeedForward(sizes)

    def forward(
        self,
        x: torch.Tensor,
        cache: KeyValues | None,
        layer: int,
        seen: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return outputs (R, T, width) of ``x`` (R, T, width);
        arguments as in :class:`Attention`.
        """
        x = x + self.attn(self.ln_1(x), cache, layer, seen)
        return x + self.mlp(self.ln_2(x))


class Trunk(nn.Module):
    """Embeddings, blocks and the last LayerNorm,
    under the names of the published checkpoints.
    """

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.wte = nn.Embedding(sizes.vocabulary, sizes.width)
        self.wpe = nn.Embedding(sizes.positions, sizes.width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.01)
        self.h = nn.ModuleList(Block(sizes) for _ in range(sizes.layers))
        self.ln_f = nn.LayerNorm(sizes.width, eps=sizes.eps)


class Gpt2(nn.Module):
    """Language model that takes input embeddings,
    so that a prefix of vectors can precede the words.
    """

    def __init__(self, sizes: Gpt2Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.transformer = Trunk(sizes)
        self.lm_head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def new_cache(self, room: int) -> KeyValues:
        """Return an empty cache for ``room`` positions;
        it grows when they are filled.
        """
        return KeyValues.empty(self.sizes.layers, room)

    def forward(
        self,
        embeddings: torch.Tensor,
        cache: KeyValues | None = None,
        seen: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return hidden states (R, T, width) after the last LayerNorm.

        Parameters
        ----------
        embeddings
            Input embeddings, shape (R, T, width), at the positions that follow the
            cached ones.
        cache
            Keys and values of earlier positions; those of ``embeddings`` are appended.
        seen
            False at positions that are masked (padding), shape (R, P + T) with P cached
            positions. The first position of each row must be True.
        """
        before = cache.length if cache is not None else 0
        positions = torch.arange(
            before, before + embeddings.shape[1], device=embeddings.device
        )
        x = embeddings + self.transformer.wpe(positions)
        for layer, block in enumerate(self.transformer.h):
            x = block(x, cache, layer, seen)
        if cache is not None:
            cache.length += embeddings.shape[1]
        return self.transformer.ln_f(x)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return logits (..., V) of hidden states (..., width)."""
        return linear(hidden, self.lm_head.weight, None)
