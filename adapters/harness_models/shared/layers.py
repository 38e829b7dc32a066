"""Standardisation of input features over a training set, folded into the first linear
layer when a model is saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

MIN_DEVIATION = 1e-4
"""Columns with a standard deviation at or below this value count as constant:
they are shifted, not scaled.
"""


@dataclass(frozen=True)
class Standardiser:
    """Column-wise map ``(x - mean) / deviation``.

    Examples
    --------
    >>> standardiser = Standardiser.fit(np.array([[0.0, 7.0], [4.0, 7.0]]))
    >>> standardiser(torch.tensor([[0.0, 8.0]]))
    tensor([[-1.,  1.]])
    """

    mean: torch.Tensor
    """Column means of the training set, shape (width,), float32."""
    deviation: torch.Tensor
    """Population standard deviations, shape (width,), float32; 1 for constant columns.
    """

    @classmethod
    def fit(cls, rows: np.ndarray) -> Standardiser:
        """Return the standardiser of training rows (N, width);
        means and deviations are computed in float64.
        """
        exact = torch.from_numpy(np.ascontiguousarray(rows)).double()
        deviation = exact.std(0, correction=0)
        return cls(
            exact.mean(0).float(),
            deviation.where(deviation > MIN_DEVIATION, 1.0).float(),
        )

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return standardised values of ``x`` (..., width), same shape."""
        return (x - self.mean) / self.deviation

    def fold_into(
        self, tensors: dict[str, torch.Tensor], linear: str
    ) -> dict[str, torch.Tensor]:
        """Return ``tensors`` with the layer ``linear`` changed so that it takes
        features that are not standardised.

        Parameters
        ----------
        tensors
            State dict with ``{linear}.weight`` (outputs, width) and ``{linear}.bias``
            (outputs,).
        linear
            Key prefix of the first linear layer.
        """
        weight = tensors[f"{linear}.weight"].double() / self.deviation.double()
        bias = tensors[f"{linear}.bias"]
        shifted = bias.double() - weight @ self.mean.double()
        return {
            **tensors,
            f"{linear}.weight": weight.to(bias.dtype),
            f"{linear}.bias": shifted.to(bias.dtype),
        }


# --------------------------------------------------------------------------- decoder
# Parts of decoders: linear layers by oneDNN, a key-value cache, and GPT-2.
# --------------------------------------------------------------------------- dense
# Linear layers with oneDNN's kernel on a CPU.
#
# For float32 on a CPU, torch computes a linear layer with its BLAS, which on many
# machines (especially AMD's) has half the speed of oneDNN's kernel or less. Outside of
# training, the kernel is used if torch provides it; results agree to float32 rounding.


@cache
def _kernel() -> Any:
    """Return oneDNN's linear operator on weights that are not repacked;
    None if this build of torch has none.
    """
    if not torch.backends.mkldnn.is_available():
        return None
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> torch.Tensor:
    """Return ``x @ weight.T + bias``, shape (..., outputs).

    Parameters
    ----------
    x
        Inputs, shape (..., inputs).
    weight
        Weights, shape (outputs, inputs), with any strides.
    bias
        Bias, shape (outputs,), or None.
    """
    plain = (
        torch.is_grad_enabled()
        or x.device.type != "cpu"
        or x.dtype != torch.float32
        or x.numel() == 0
    )
    if plain or not torch.backends.mkldnn.enabled or _kernel() is None:
        return F.linear(x, weight, bias)
    return _kernel()(x, weight, bias, "none", [], "")


class Linear(nn.Linear):
    """:class:`torch.nn.Linear` computed by :func:`linear`."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return outputs (..., outputs) of ``input`` (..., inputs)."""
        return linear(input, self.weight, self.bias)


class SelfAttention(nn.Module):
    """Projections of an attention with BERT's key names."""

    def __init__(self, width: int, linear: type[nn.Linear] = nn.Linear) -> None:
        super().__init__()
        self.query, self.key, self.value = (linear(width, width) for _ in range(3))


class Output(nn.Module):
    """End of a sub-layer with BERT's key names: linear layer, dropout, residual and,
    unless ``eps`` is None, LayerNorm.
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        dropout: float,
        eps: float | None,
        linear: type[nn.Linear] = nn.Linear,
    ) -> None:
        super().__init__()
        self.dense = linear(inputs, width)
        self.drop = nn.Dropout(dropout)
        self.LayerNorm = None if eps is None else nn.LayerNorm(width, eps=eps)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """Return the output (..., width) of ``x`` (..., inputs) beside a ``residual``
        (..., width).
        """
        x = self.drop(self.dense(x)) + residual
        return x if self.LayerNorm is None else self.LayerNorm(x)


# --------------------------------------------------------------------------- key values
# Key-value cache of a decoder: new entries are written in place into buffers with spare
# room, so a step does not copy earlier entries.


@dataclass
class KeyValues:
    """Keys and values of all layers.

    A step writes into the buffers of its input state; that state must not be used
    again. The decoder guarantees this.
    """

    keys: list[torch.Tensor | None]
    """Buffer of each layer, shape (R, room, heads, d), or None before the first entry.
    """
    values: list[torch.Tensor | None]
    """Buffers of the same shapes."""
    length: int
    """Number of filled positions."""
    room: int
    """Number of positions of the buffers."""

    @classmethod
    def empty(cls, layers: int, room: int) -> KeyValues:
        """Return an empty cache of ``layers`` layers for ``room`` positions."""
        return cls([None] * layers, [None] * layers, 0, room)

    def put(
        self, layer: int, key: torch.Tensor, value: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append keys and values to a layer; return all of them, shape (R,
        length + T, heads, d) each.

        Parameters
        ----------
        layer
            Index of the layer.
        key, value
            New entries, shape (R, T, heads, d). The caller adds T to ``length`` after
            the last layer.
        """
        after = self.length + key.shape[1]
        # Doubling keeps the number of copies logarithmic in the length; torch.cat at
        # every step would copy the whole cache each time.
        if after > self.room:
            self.room = max(after, 2 * self.room)
        out = []
        for store, new in ((self.keys, key), (self.values, value)):
            buffer = store[layer]
            if buffer is None or buffer.shape[1] < self.room:
                grown = new.new_empty(new.shape[0], self.room, *new.shape[2:])
                if buffer is not None:
                    grown[:, : self.length] = buffer[:, : self.length]
                store[layer] = buffer = grown
            # `length` stays until the caller has run all layers, so that every layer
            # writes to the same positions.
            buffer[:, self.length : after] = new
            out.append(buffer[:, :after])
        return out[0], out[1]

    def take(self, index: torch.Tensor) -> KeyValues:
        """Return rows ``index`` (R',) in new buffers."""
        return KeyValues(
            [self._rows(buffer, index) for buffer in self.keys],
            [self._rows(buffer, index) for buffer in self.values],
            self.length,
            self.room,
        )

    def _rows(
        self, buffer: torch.Tensor | None, index: torch.Tensor
    ) -> torch.Tensor | None:
        if buffer is None:
            return None
        # Only the filled positions are copied; the rest of the room need not hold
        # anything.
        rows = buffer.new_empty(len(index), self.room, *buffer.shape[2:])
        rows[:, : self.length] = buffer[:, : self.length].index_select(
            0, index.to(buffer.device)
        )
        return rows


# --------------------------------------------------------------------------- gpt2
# GPT-2 with its published key names, an interface for embeddings, and a key-value cache
# that grows in place.
#
# The blocks apply LayerNorm before attention and feed-forward layers, the activation is
# the tanh approximation of GELU, positions are learned, and the output layer is tied to
# the embeddings. The weights of projections are stored as (inputs, outputs). All sizes
# except the number of heads can be derived from a state dict.
#
# References
# ----------
# Radford et al. (2019), Language Models are Unsupervised Multitask Learners.


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
        query, key, value = (
            self.c_attn(x)
            .reshape(rows, length, 3, self.heads, width // self.heads)
            .unbind(2)
        )
        if cache is not None:
            key, value = cache.put(layer, key, value)
        before = key.shape[1] - length
        mask = None
        if seen is not None or (before and length > 1):
            mask = torch.ones(
                length, before + length, dtype=torch.bool, device=x.device
            ).tril(before)
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
