"""Layers of the video captioning network,
with the key names of NACF (Yang et al. 2021, arXiv 1911.12018).

Shapes: ``B`` videos, ``R`` rows of slots, ``T`` slots, ``S`` attended slots, ``d``
width of an attention head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import nn
from torch.nn import functional as F

from harness.contracts.parameters import Count, Ge, ProperShare
from harness_models.shared.layers import Output, SelfAttention

PAD, UNK, BOS, EOS, MASK, VIS = range(6)
"""Ids of the special words: padding, unknown, begin, end, masked word,
and the input of templates.
"""
_MASKED = -1e7
Cache = tuple[tuple[torch.Tensor, torch.Tensor], ...]
"""Keys and values of each layer, (R, heads, S, d)."""


@dataclass(frozen=True, kw_only=True)
class VideoSizes:
    """Sizes and options of a network over video features."""

    features: dict[str, int]
    """Feature width by modality letter, in order of concatenation."""
    width: Count
    """Width of hidden states."""
    layers: Count
    """Number of decoder layers."""
    heads: Count
    inner: Count
    """Width of the feed-forward layers."""
    vocabulary: int
    max_len: Annotated[int, Ge(3)]
    """Rows of the position table; captions have at most ``max_len - 1`` words."""
    categories: int = 0
    """Number of video categories, 0 without category embeddings."""
    normalised: bool = True
    """If true, BatchNorm follows the encoders."""
    layer_norms: bool = False
    """If true, LayerNorm follows each sub-layer of the decoder."""
    output_bias: bool = False
    """If true, the output layer has a bias."""
    activation: str = "gelu_new"
    """Activation of the feed-forward layers: relu, gelu, or gelu_new (tanh form)."""
    eps: float = 1e-5
    """Epsilon of LayerNorm."""
    dropout: ProperShare = 0.5
    """Dropout probability after embeddings, sub-layers and encoders in training."""


class Highway(nn.Module):
    """Highway layer: g x + (1 - g) tanh(W1 x), with g = sigmoid(W2 x)."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.w1 = nn.Linear(width, width)
        self.w2 = nn.Linear(width, width)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the layer's output (..., width) for inputs (..., width)."""
        gate = torch.sigmoid(self.w2(x))
        return self.drop(gate * x + (1 - gate) * torch.tanh(self.w1(x)))


class Encoder(nn.Module):
    """Encoder: a linear and a highway layer per modality (keys ``Encoder_M``,
    ``Encoder_I``).
    """

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        for name, width in sizes.features.items():
            self.add_module(
                f"Encoder_{name.upper()}",
                nn.Sequential(
                    nn.Linear(width, sizes.width), Highway(sizes.width, sizes.dropout)
                ),
            )
        self.names = [f"Encoder_{name.upper()}" for name in sizes.features]

    def forward(self, features: list[torch.Tensor]) -> list[torch.Tensor]:
        """Return one tensor (B, frames, width) per modality, for features (B, frames,
        feature width).
        """
        return [self.get_submodule(name)(x) for name, x in zip(self.names, features)]


class Joint(nn.Module):
    """Joint representation: BatchNorm over all frame vectors of a modality, then
    concatenation in time (keys ``bn0``, ``bn1``).
    """

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.count = len(sizes.features)
        for index in range(self.count):
            self.add_module(f"bn{index}", nn.BatchNorm1d(sizes.width))

    def forward(self, encoded: list[torch.Tensor]) -> torch.Tensor:
        """Return the memory (B, sum of frames, width) of encoded modalities (B, frames,
        width).
        """
        normalised = [
            self.get_submodule(f"bn{index}")(x.reshape(-1, x.shape[-1])).reshape(
                x.shape
            )
            for index, x in enumerate(encoded)
        ]
        return torch.cat(normalised, dim=1)


class _LengthNet(nn.Module):
    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(sizes.width, sizes.width),
            nn.ReLU(),
            nn.Dropout(sizes.dropout),
            nn.Linear(sizes.width, sizes.max_len),
        )


class LengthPredictor(nn.Module):
    """Predictor of the number of words,
    from the mean memory (keys ``layers.0.net``).
    """

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.layers = nn.ModuleList([_LengthNet(sizes)])

    def forward(self, memory: torch.Tensor) -> torch.Tensor:
        """Return the log-probabilities (B, max_len) of the number of words,
        for a memory (B, S, width).
        """
        return self.layers[0].get_submodule("net")(memory.mean(1)).log_softmax(-1)


def _output(inputs: int, sizes: VideoSizes) -> Output:
    return Output(
        inputs, sizes.width, sizes.dropout, sizes.eps if sizes.layer_norms else None
    )


class Attention(nn.Module):
    """Multi-head attention with output projection, residual and dropout."""

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.add_module("self", SelfAttention(sizes.width))
        self.output = _output(sizes.width, sizes)

    def _split(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return (
            self.get_submodule(f"self.{name}")(x)
            .reshape(*x.shape[:2], self.heads, -1)
            .transpose(1, 2)
        )

    def keys_values(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return keys and values, each (R, heads, S, d), of slots (R, S, width)."""
        return self._split("key", x), self._split("value", x)

    def forward(
        self,
        x: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        hidden: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return the output (R, T, width) of slots ``x`` (R, T, width) that attend to
        keys and values (R, heads, S, d).

        ``hidden`` (R, 1 or T, S) is True where a slot must not attend. Hidden scores
        are -1e7 and not -inf, because all slots of a row can be hidden.
        """
        query = self._split("query", x)
        scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
        if hidden is not None:
            scores = scores.masked_fill(hidden[:, None], _MASKED)
        mixed = scores.softmax(-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(x.shape), x)


class _Intermediate(nn.Module):
    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.dense = nn.Linear(sizes.width, sizes.inner)
        self.activation = sizes.activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.dense(x)
        if self.activation == "relu":
            return torch.relu(x)
        if self.activation == "gelu":
            return F.gelu(x)
        # the tanh form as the authors write it: published logits reach hundreds, where
        # other roundings are visible
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
        return 0.5 * x * (1 + torch.tanh(inner))


class Layer(nn.Module):
    """Decoder layer: self-attention, attention to the memory, feed-forward.

    Padded slots are set to 0 after each.
    """

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.attention = Attention(sizes)
        self.attend_to_enc_output = Attention(sizes)
        self.intermediate = _Intermediate(sizes)
        self.output = _output(sizes.inner, sizes)

    def forward(
        self,
        x: torch.Tensor,
        real: torch.Tensor,
        hidden: torch.Tensor,
        memory: tuple[torch.Tensor, torch.Tensor],
        past: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Return the output (R, T, width), and the keys and values (R, heads,
        past + T, d) of the slots.

        Parameters
        ----------
        x
            Slots (R, T, width).
        real
            (R, T, 1), 1 at words and 0 at padding.
        hidden
            Broadcastable to (R, T, past + T), True where a slot must not attend.
        memory
            Keys and values of the video, (R, heads, S, d).
        past
            Keys and values of earlier slots, (R, heads, past, d), or None.
        """
        key, value = self.attention.keys_values(x)
        if past is not None:
            key = torch.cat([past[0], key], dim=2)
            value = torch.cat([past[1], value], dim=2)
        x = self.attention(x, key, value, hidden) * real
        x = self.attend_to_enc_output(x, *memory, None) * real
        x = self.output.drop(self.output(self.intermediate(x), x)) * real
        return x, (key, value)


class Embedding(nn.Module):
    """Sum of word, position and category embeddings, with LayerNorm."""

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(
            sizes.vocabulary, sizes.width, padding_idx=PAD
        )
        self.position_embeddings = nn.Embedding(sizes.max_len, sizes.width)
        self.category_embeddings = (
            nn.Embedding(sizes.categories, sizes.width) if sizes.categories else None
        )
        self.LayerNorm = nn.LayerNorm(sizes.width, eps=sizes.eps)
        self.drop = nn.Dropout(sizes.dropout)

    def forward(
        self,
        tokens: torch.Tensor,
        start: int,
        category: torch.Tensor | None,
        more: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return embeddings (R, T, width).

        Parameters
        ----------
        tokens
            Word ids (R, T).
        start
            Number of the first slot.
        category
            Video categories (R,), required if the model has category embeddings.
        more
            Vectors (R, width) that are added to every slot, or None.
        """
        positions = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        x = self.word_embeddings(tokens) + self.position_embeddings(positions)
        if self.category_embeddings is not None:
            if category is None:
                raise ValueError(
                    "the model was trained with categories: category must not be None"
                )
            x = x + self.category_embeddings(category.reshape(-1))[:, None]
        return self.drop(self.LayerNorm(x if more is None else x + more[:, None]))
