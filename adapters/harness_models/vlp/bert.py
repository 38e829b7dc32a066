"""BERT's encoder with VLP's key names: post-LayerNorm, erf-GELU, LayerNorm eps 1e-5;
the context is computed once.

Shapes: ``E`` images, ``C`` context slots, ``R`` rows of text, ``T`` text slots, ``d``
width of an attention head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import nn
from torch.nn import functional as F

from harness_models.shared.layers import (
    KeyValues,
    Linear,
    Output,
    SelfAttention,
    linear,
)

# --------------------------------------------------------------------------- context
# Keys and values of image regions, stored once per image and used by all rows of text
# about the image.
#
# Regions do not attend to text in VLP, so their keys and values are the same for every
# reference, candidate and beam of an image. The attention of a row is one softmax over
# the scores of its image's context and of its text; only the scores are concatenated.


@dataclass(frozen=True)
class Context:
    """Keys and values of E images for R rows of text;
    row i belongs to image ``owner[i]``.
    """

    layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]
    """Keys and values of each layer, (E, heads, C, d)."""
    owner: torch.Tensor
    """Image of each row, (R,)."""
    table_row: torch.Tensor | None
    """Index (R,) of each row in a table of E x ``width`` rows, ordered by image; None
    if the rows have that order already.
    """
    width: int
    """Largest number of rows of an image."""

    @classmethod
    def of(cls, layers: tuple[tuple[torch.Tensor, torch.Tensor], ...]) -> Context:
        """Return the context of keys and values (E, heads, C, d) in each layer,
        with one row per image.
        """
        images = layers[0][0].shape[0]
        return cls(layers, torch.arange(images, device=layers[0][0].device), None, 1)

    def __len__(self) -> int:
        """Return C, the number of context slots."""
        return self.layers[0][0].shape[2]

    @property
    def images(self) -> int:
        """Number E of images."""
        return self.layers[0][0].shape[0]

    def take(self, index: torch.Tensor) -> Context:
        """Return the context of the rows ``index`` (R',).

        Images without rows are dropped when they are at least a quarter of all images.
        """
        owner = self.owner[index.to(self.owner.device)]
        layers = self.layers
        images = self.images
        left, dense = owner.unique(return_inverse=True)
        if 4 * len(left) <= 3 * images:
            layers = tuple(
                (key.index_select(0, left), value.index_select(0, left))
                for key, value in layers
            )
            owner = dense
            images = len(left)
        # Rows of one image need not be neighbours after a beam search has reordered
        # them. Each row gets a place in a table of E x width rows, ordered by image, so
        # that one batched product per image serves all its rows.
        counts = torch.bincount(owner, minlength=images)
        width = int(counts.max())
        rows = torch.arange(len(owner), device=owner.device)
        order = owner.argsort(stable=True)
        rank = torch.empty_like(rows)
        rank[order] = rows - (counts.cumsum(0) - counts)[owner[order]]
        table_row = owner * width + rank
        ordered = len(owner) == images * width and bool((table_row == rows).all())
        return Context(layers, owner, None if ordered else table_row, width)

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        dropout: float = 0.0,
    ) -> torch.Tensor:
        """Return the attention results (R, heads, T,
        d) of queries over the context and the text.

        Parameters
        ----------
        layer
            Number of the layer.
        query
            Queries (R, heads, T, d).
        key, value
            Keys and values of the text, (R, heads, S, d).
        mask
            (T, S), True where text slot t attends to text slot s, or None for all.
            Every slot attends to the whole context.
        dropout
            Dropout probability of the attention weights (training).
        """
        context_key, context_value = self.layers[layer]
        # One softmax over both parts needs the scores of both side by side, but not the
        # keys: the context keys of an image, by far the larger part, are never copied
        # for its rows.
        query = query * query.shape[-1] ** -0.5
        context = self._by_row(self._by_image(query) @ context_key.transpose(-1, -2))
        text = query @ key.transpose(-1, -2)
        if mask is not None:
            text = text.masked_fill(~mask, float("-inf"))
        share = torch.cat([context, text], dim=-1).softmax(-1)
        share = F.dropout(share, dropout) if dropout else share
        context, text = share.split([len(self), key.shape[2]], dim=-1)
        return self._by_row(self._by_image(context) @ context_value) + text @ value

    def _by_image(self, x: torch.Tensor) -> torch.Tensor:
        """Return values (R, heads, T, n) grouped by image, as (E, heads, width x T, n);
        missing rows are 0.
        """
        _, heads, length, size = x.shape
        if self.table_row is not None:
            x = x.new_zeros(self.images * self.width, heads, length, size).index_copy_(
                0, self.table_row, x
            )
        return (
            x.reshape(self.images, self.width, heads, length, size)
            .transpose(1, 2)
            .flatten(2, 3)
        )

    def _by_row(self, x: torch.Tensor) -> torch.Tensor:
        """Return values (E, heads, width x T, n) as rows (R, heads, T, n):
        the inverse of :meth:`_by_image`.
        """
        _, heads, rows_and_slots, size = x.shape
        x = (
            x.reshape(
                self.images, heads, self.width, rows_and_slots // self.width, size
            )
            .transpose(1, 2)
            .flatten(0, 1)
        )
        return x if self.table_row is None else x.index_select(0, self.table_row)


EPS = 1e-5


@dataclass(frozen=True, kw_only=True)
class BertSizes:
    """Sizes of BERT."""

    vocabulary: int
    """Number of tokens."""
    width: int
    """Width of hidden states."""
    layers: int
    heads: int
    inner: int
    """Width of the feed-forward layers."""
    positions: int
    """Rows of the position table."""
    segments: int
    """Rows of the segment table."""
    dropout: float = 0.0
    """Dropout probability in training."""


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
        return self._project("key", x).transpose(1, 2), self._project(
            "value", x
        ).transpose(1, 2)

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
        return self(
            x, context.attend(index, query, key, value, mask, self._dropout_rate())
        )


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


# --------------------------------------------------------------------------- sizes
# Sizes of a VLP model.
SPECIAL_IDS = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
"""Ids of the special tokens in the vocabulary of BERT-base-cased."""


@dataclass(frozen=True, kw_only=True)
class VlpSizes:
    """Sizes of a VLP model; the defaults are the published ones."""

    bert: BertSizes
    """Sizes of BERT."""
    region: int = 2048
    """Width of a region's feature vector."""
    hidden: int = 2048
    """Width of the hidden layer over a region."""
    geometry: int = 1607
    """Width of a region's geometry vector: box, score and class probabilities."""
    new_segment_ids: bool = True
    """If true, context and text have the segments 4 and 5, else 0 and 1."""
    special_ids: Mapping[str, int] = field(default_factory=dict)
    """Ids of special tokens that differ from BERT-base-cased; after construction, the
    ids of all special tokens.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_ids", {**SPECIAL_IDS, **self.special_ids})
