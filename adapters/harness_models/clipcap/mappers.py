"""Mappers of CLIPCap: from one CLIP vector to ``prefix_length`` input embeddings of
GPT-2 (Mokady et al. 2021, section 3.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.shared.layers import Linear

# Sizes of a CLIPCap model.
MAPPER_HEADS = 8
"""Default number of attention heads of the transformer mapper, as in the authors' code.
"""


@dataclass(frozen=True, kw_only=True)
class ClipCapSizes:
    """Sizes of a CLIPCap model. The published values are given by the checkpoint."""

    mapper: str
    """Kind of the mapper: mlp, linear or transformer."""
    clip: int
    """Width of the CLIP vector."""
    prefix_length: int
    """Number of input embeddings of GPT-2 that the mapper returns."""
    gpt2: Gpt2Sizes
    """Sizes of GPT-2."""
    hidden: int = 0
    """Hidden width of the MLP, or feed-forward width of the transformer mapper."""
    clip_length: int = 0
    """Number of vectors that the transformer mapper makes of the CLIP vector."""
    layers: int = 0
    """Number of layers of the transformer mapper."""
    heads: int = MAPPER_HEADS
    """Number of attention heads of the transformer mapper."""
    normalise: bool = False
    """If true, the adapter divides the CLIP vector by its L2 norm before the mapper."""


class MlpMapper(nn.Module):
    """Two linear layers with tanh between them, from (B, clip) to (B, outputs).

    Parameters
    ----------
    clip
        Width of the CLIP vector.
    hidden
        Hidden width; half of ``outputs`` in the published models.
    outputs
        ``prefix_length`` times the width of GPT-2.
    """

    def __init__(self, clip: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.model = nn.Sequential(
            Linear(clip, hidden), nn.Tanh(), Linear(hidden, outputs)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the flat prefix (B, outputs) of CLIP vectors (B, clip)."""
        return self.model(x)


class TransformerMapper(nn.Module):
    """Transformer from one CLIP vector and learned constants to the prefix.

    A linear layer makes ``clip_length`` vectors of the CLIP vector; ``prefix_length``
    learned constants follow them. All positions attend to all positions (pre-LayerNorm
    layers). The outputs at the constants are the prefix.
    """

    def __init__(
        self,
        clip: int,
        clip_length: int,
        prefix_length: int,
        width: int,
        layers: int,
        heads: int,
        inner: int,
    ) -> None:
        super().__init__()
        self.clip_length = clip_length
        self.linear = Linear(clip, clip_length * width)
        self.prefix_const = nn.Parameter(torch.randn(prefix_length, width))
        self.transformer = _Layers(layers, width, heads, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the prefix (B, prefix_length, width) of CLIP vectors (B, clip)."""
        vectors = self.linear(x).reshape(len(x), self.clip_length, -1)
        sequence = torch.cat([vectors, self.prefix_const.expand(len(x), -1, -1)], dim=1)
        return self.transformer(sequence)[:, self.clip_length :]


class _Layers(nn.Module):
    def __init__(self, layers: int, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_Layer(width, heads, inner) for _ in range(layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int, inner: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn = _Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = _FeedForward(width, inner)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class _Attention(nn.Module):
    """Self-attention.

    Keys are the first half of the joint projection, values the second.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_queries = Linear(width, width, bias=False)
        self.to_keys_values = Linear(width, 2 * width, bias=False)
        self.project = Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, length, width = x.shape
        keys, values = self.to_keys_values(x).split(width, dim=-1)
        query, key, value = (
            projection.reshape(rows, length, self.heads, -1).transpose(1, 2)
            for projection in (self.to_queries(x), keys, values)
        )
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        return self.project(mixed.transpose(1, 2).reshape(rows, length, width))


class _FeedForward(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc1 = Linear(width, inner)
        self.fc2 = Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.relu(self.fc1(x)))
