"""BERT's encoder with VLP's key names: post-LayerNorm, erf-GELU, LayerNorm eps 1e-5;
the context is computed once.

Shapes: ``E`` images, ``C`` context slots, ``R`` rows of text, ``T`` text slots, ``d``
width of an attention head.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import nn
from torch.nn import functional as F

from harness_models.shared.key_values import KeyValues
from harness_models.shared.layers import Linear, Output, SelfAttention, linear
from harness_models.vlp.context import Context
from harness_models.vlp.sizes import EPS, BertSizes


class _Attention(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.add_module("self", SelfAttention(sizes.width, Linear))
        self.output = Output(sizes.width, sizes.width, sizes.dropout, EPS, Linear)


class _Intermediate(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.dense = Linear(width, inner)


class Layer(nn.Module):
    """One transformer layer: self-attention and feed-forward,
    each followed by LayerNorm.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.dropout = sizes.dropout
        self.attention = _Attention(sizes)
        self.intermediate = _Intermediate(sizes.width, sizes.inner)
        self.output = Output(sizes.inner, sizes.width, sizes.dropout, EPS, Linear)

    def _project(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """Return queries, keys or values (R, T, heads, d)."""
        return (
            self.attention.get_submodule("self")
            .get_submodule(name)(x)
            .reshape(*x.shape[:2], self.heads, -1)
        )

    def queries(self, x: torch.Tensor) -> torch.Tensor:
        """Return the queries (R, heads, T, d) of slots ``x`` (R, T, width)."""
        return self._project("query", x).transpose(1, 2)

    def keys_values(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return keys and values, each (R, heads, T, d), of slots ``x`` (R,
        T, width).
        """
        key = self._project("key", x)
        value = self._project("value", x)
        return key.transpose(1, 2), value.transpose(1, 2)

    def forward(self, x: torch.Tensor, mixed: torch.Tensor) -> torch.Tensor:
        """Return the layer's output (R, T, width) for inputs ``x`` (R, T, width) and
        attention results ``mixed`` (R, heads, T, d).
        """
        x = self.attention.output(mixed.transpose(1, 2).reshape(x.shape), x)
        return self.output(F.gelu(self.intermediate.dense(x)), x)

    def within(
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Return the output (R, T, width), and keys and values,
        of slots that attend to each other.

        ``mask`` is broadcastable to (R, heads, T, T) and True where a slot may attend.
        """
        key, value = self.keys_values(x)
        query = self.queries(x)
        mixed = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask, dropout_p=self._dropout_rate()
        )
        return self(x, mixed), (key, value)

    def _dropout_rate(self) -> float:
        return self.dropout if self.training else 0.0

    def after(
        self,
        x: torch.Tensor,
        index: int,
        context: Context,
        past: KeyValues | None,
        mask: torch.Tensor | None,
        first: int,
    ) -> torch.Tensor:
        """Return the output (R, T - first, width) at slots ``first`` and later of text
        slots ``x`` (R, T, width).

        The slots attend to the context, to the cached slots ``past``, and to each
        other. ``index`` is the number of this layer in the context and the cache;
        ``mask`` (T, past + T) is True where a slot may attend.
        """
        key = self._project("key", x)
        value = self._project("value", x)
        if past is not None:
            key, value = past.put(index, key, value)

        x = x[:, first:]
        mask = mask if mask is None else mask[first:]

        query = self.queries(x)
        key = key.transpose(1, 2)
        value = value.transpose(1, 2)
        rate = self._dropout_rate()
        return self(x, context.attend(index, query, key, value, mask, rate))


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
    """Embeddings and layers of BERT (keys ``bert.*``)."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.embeddings = _Embeddings(sizes)
        self.encoder = _Encoder(sizes)

    def embed(
        self, words: torch.Tensor, positions: torch.Tensor, segment: int
    ) -> torch.Tensor:
        """Return the normalised sum (R, T, width) of word vectors (R, T, width),
        position vectors (R or 1, T, width) and a segment.
        """
        table = self.embeddings
        return table.dropout(
            table.LayerNorm(
                words + positions + table.token_type_embeddings.weight[segment]
            )
        )

    def within(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return hidden states (R, T, width) of slots ``x`` that attend to each other;
        ``mask`` (R, 1, 1, T) is False at padding.
        """
        for layer in self.encoder.layer:
            x, _ = cast(Layer, layer).within(x, mask)
        return x

    def context(self, x: torch.Tensor) -> Context:
        """Return keys and values of context slots ``x`` (E, C,
        width) that attend to each other.

        The output of the last layer is not computed, because no slot uses it.
        """
        layers = []
        for layer in list(self.encoder.layer)[:-1]:
            x, present = cast(Layer, layer).within(x)
            layers.append(present)
        return Context.of((*layers, cast(Layer, self.encoder.layer[-1]).keys_values(x)))

    def forward(
        self,
        x: torch.Tensor,
        context: Context,
        past: KeyValues | None,
        mask: torch.Tensor | None,
        first: int = 0,
    ) -> torch.Tensor:
        """Return hidden states (R, T - first, width) of text slots ``x`` (R, T,
        width), from slot ``first`` on.

        Parameters
        ----------
        x
            Embeddings of the text slots.
        context
            Keys and values of the context.
        past
            Cache of the text slots before ``x``, or None. The slots ``x`` are written
            into it.
        mask
            (T, past + T), True where a slot may attend, or None for all.
        first
            First slot whose output is needed.
        """
        last = len(self.encoder.layer) - 1
        for index, layer in enumerate(self.encoder.layer):
            x = cast(Layer, layer).after(
                x, index, context, past, mask, first if index == last else 0
            )
        return x


class _Transform(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = Linear(width, width)
        self.LayerNorm = nn.LayerNorm(width, eps=EPS)


class _Predictions(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.transform = _Transform(sizes.width)
        self.decoder = Linear(sizes.width, sizes.vocabulary, bias=False)
        self.bias = nn.Parameter(torch.zeros(sizes.vocabulary))


class Head(nn.Module):
    """Output layer: linear, GELU, LayerNorm, then the product with the word embedding
    and a bias (keys ``cls.*``).
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.predictions = _Predictions(sizes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits (..., vocabulary) of hidden states (..., width)."""
        head = self.predictions
        hidden = head.transform.LayerNorm(F.gelu(head.transform.dense(x)))
        return linear(hidden, head.decoder.weight, head.bias)
