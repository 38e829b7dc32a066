"""BERT's encoder with VLP's key names: post-LayerNorm, erf-GELU, LayerNorm eps 1e-5; keys and values can be kept."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

EPS = 1e-5
Cache = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Per layer keys and values, each (R, heads, T, width / heads)."""


@dataclass(frozen=True, kw_only=True)
class BertSizes:
    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    segments: int
    dropout: float = 0.0
    """In training."""


class _SelfAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))


class _Output(nn.Module):
    def __init__(self, inputs: int, sizes: BertSizes) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, sizes.width)
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=EPS)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class _Attention(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.add_module("self", _SelfAttention(sizes.width))
        self.output = _Output(sizes.width, sizes)


class _Intermediate(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, inner)


class Layer(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.heads, self.dropout = sizes.heads, sizes.dropout
        self.attention = _Attention(sizes)
        self.intermediate = _Intermediate(sizes.width, sizes.inner)
        self.output = _Output(sizes.inner, sizes)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(
        self, x: torch.Tensor, past: tuple[torch.Tensor, torch.Tensor] | None, mask: torch.Tensor | None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        maps = self.attention.get_submodule("self")
        query, key, value = (self._split(maps.get_submodule(name)(x)) for name in ("query", "key", "value"))
        if past is not None:
            key, value = torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        dropped = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropped)
        x = self.attention.output(mixed.transpose(1, 2).reshape(x.shape), x)
        return self.output(F.gelu(self.intermediate.dense(x)), x), (key, value)


class _Encoder(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))


class _Embeddings(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(sizes.vocabulary, sizes.width)
        self.position_embeddings = nn.Embedding(sizes.positions, sizes.width)
        self.token_type_embeddings = nn.Embedding(sizes.segments, sizes.width)
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=EPS)
        self.dropout = nn.Dropout(sizes.dropout)


class Bert(nn.Module):
    """Embeddings and layers (``bert.*``)."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.embeddings = _Embeddings(sizes)
        self.encoder = _Encoder(sizes)

    def embed(self, words: torch.Tensor, places: torch.Tensor, segment: int) -> torch.Tensor:
        """Sum of word vectors (R, T, width), place vectors (R or 1, T, width) and one segment, normalised."""
        table = self.embeddings
        return table.dropout(table.LayerNorm(words + places + table.token_type_embeddings.weight[segment]))

    def forward(
        self, x: torch.Tensor, past: Cache | None = None, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Cache]:
        """Hidden states (R, T, width) of embeddings that follow ``past``, and the cache with them. ``mask`` (T, all), or
        (R, 1, T or 1, all), is True where a slot may look; None: everywhere."""
        presents = []
        for index, layer in enumerate(self.encoder.layer):
            x, present = layer(x, past[index] if past else None, mask)
            presents.append(present)
        return x, tuple(presents)


class _Transform(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.LayerNorm = nn.LayerNorm(width, eps=EPS)


class _Predictions(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.transform = _Transform(sizes.width)
        self.decoder = nn.Linear(sizes.width, sizes.vocabulary, bias=False)
        self.bias = nn.Parameter(torch.zeros(sizes.vocabulary))


class Head(nn.Module):
    """Linear, GELU, LayerNorm, then the word embedding and a bias (``cls.*``)."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.predictions = _Predictions(sizes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        head = self.predictions
        return head.decoder(head.transform.LayerNorm(F.gelu(head.transform.dense(x)))) + head.bias
