"""TVT, the two-view transformer (Chen, Li, Zhang, Huang, ACML 2018, PMLR 95:847-862),
in a format of this project.

The authors' code and weights are not available. From the paper's abstract and from Chan
et al. 2022, appendix A.3, are: one transformer encoder per view, 4 + 4 layers, 8 heads,
width 512, and in every decoder layer a fusion of the views in place of one
cross-attention. The fusion is ``add`` (sum of the attention results) or ``attentive``
(weighted sum, with weights from a further attention). The exact forms of both fusions,
and LayerNorm before each sub-layer, are choices of this project. With one view it is a
plain transformer captioner.

Shapes: ``B`` videos, ``R`` rows, ``T`` words, ``S`` frames, ``V`` vocabulary entries,
``d`` width of an attention head.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from harness.errors import HarnessError, InputError
from harness_models.shared.tokenisers.word_list import WordList
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import load_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly

PAD, BOS, EOS, UNK = range(4)
"""Ids of the special words."""
SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
FUSIONS = ("add", "attentive")
Pair = tuple[torch.Tensor, torch.Tensor]
"""Keys and values, each (R, heads, S, d)."""


class TvtWords(WordList):
    """Words and their ids, with pad, bos, eos and unk first.

    Raises :class:`InputError` for a list that does not begin with the special words.

    Examples
    --------
    >>> words = TvtWords([*SPECIAL, "a", "dog", "runs"])
    >>> words.encode("a bird runs"), words.decode([1, 4, 5, 2])
    ([4, 3, 6], 'a dog')
    """

    unknown = UNK
    hidden = (PAD, BOS, EOS)

    def __init__(self, words: Sequence[str]) -> None:
        if tuple(words[: len(SPECIAL)]) != SPECIAL:
            raise InputError(f"a word list begins with {', '.join(SPECIAL)}")
        super().__init__(words)


@dataclass(frozen=True, kw_only=True)
class TvtSizes:
    """Sizes of a model.

    The defaults are those of Chan et al. 2022, appendix A.3;
    the feed-forward width is 4 x 512.

    Raises :class:`HarnessError` for an unknown fusion and a width that the heads do not
    divide.
    """

    views: Mapping[str, int]
    """Feature width of each view, in order."""
    vocabulary: int
    """Number of words, the special ones included."""
    width: int = 512
    """Width of hidden states."""
    heads: int = 8
    encoder_layers: int = 4
    decoder_layers: int = 4
    inner: int = 2048
    """Width of the feed-forward layers."""
    dropout: float = 0.5
    """Dropout probability in training."""
    fusion: str = "add"
    """Fusion of the views: add or attentive."""
    max_length: int = 30
    """Maximum number of words of a caption, the end counted."""

    def __post_init__(self) -> None:
        if self.fusion not in FUSIONS:
            raise HarnessError(
                f"tvt: fusion is one of {', '.join(FUSIONS)}; found {self.fusion!r}"
            )
        if not self.views or self.width % self.heads or self.width % 2:
            raise HarnessError(
                f"tvt: expected at least one view, and a width that {self.heads} "
                f"heads and 2 divide; found {self.width}"
            )


def sinusoids(length: int, width: int, device: torch.device) -> torch.Tensor:
    """Return position vectors (length, width) (Vaswani et al. 2017, section 3.5)."""
    rate = torch.exp(
        torch.arange(0, width, 2, device=device) * (-math.log(10000.0) / width)
    )
    angle = torch.arange(length, device=device)[:, None] * rate
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, width)


class Attention(nn.Module):
    """Multi-head attention."""

    def __init__(self, sizes: TvtSizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.query, self.key, self.value, self.out = (
            nn.Linear(sizes.width, sizes.width) for _ in range(4)
        )

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def keys_values(self, x: torch.Tensor) -> Pair:
        """Return keys and values, each (R, heads, S, d), of inputs (R, S, width)."""
        return self._split(self.key(x)), self._split(self.value(x))

    def forward(
        self, x: torch.Tensor, pair: Pair, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the attention results (R, T, width) of inputs ``x`` (R, T, width).

        ``mask`` is broadcastable to (R, heads, T, S) and True where a position may
        attend.
        """
        mixed = F.scaled_dot_product_attention(
            self._split(self.query(x)), *pair, attn_mask=mask
        )
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


def _feed_forward(sizes: TvtSizes) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(sizes.width, sizes.inner),
        nn.ReLU(),
        nn.Dropout(sizes.dropout),
        nn.Linear(sizes.inner, sizes.width),
    )


class EncoderLayer(nn.Module):
    """Encoder layer: self-attention and feed-forward, with LayerNorm before each."""

    def __init__(self, sizes: TvtSizes) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(sizes.width) for _ in range(2))
        self.attention = Attention(sizes)
        self.feed = _feed_forward(sizes)
        self.drop = nn.Dropout(sizes.dropout)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the output (B, S, width) for frames (B, S, width) and a mask (B, 1, 1,
        S), True at frames of the video.
        """
        y = self.norms[0](x)
        x = x + self.drop(self.attention(y, self.attention.keys_values(y), mask))
        return x + self.drop(self.feed(self.norms[1](x)))


class Fusion(nn.Module):
    """Attention to every view, and the sum or weighted sum of the results."""

    def __init__(self, sizes: TvtSizes) -> None:
        super().__init__()
        self.cross = nn.ModuleDict({name: Attention(sizes) for name in sizes.views})
        self.weigh = None
        if sizes.fusion == "attentive":
            self.weigh = nn.ModuleDict(
                {
                    "state": nn.Linear(sizes.width, sizes.width),
                    "view": nn.Linear(sizes.width, sizes.width),
                    "score": nn.Linear(sizes.width, 1, bias=False),
                }
            )

    def forward(
        self,
        x: torch.Tensor,
        memory: Mapping[str, Pair],
        masks: Mapping[str, torch.Tensor],
    ) -> torch.Tensor:
        """Return the fused results (R, T, width) of inputs (R, T, width).

        ``memory`` holds keys and values of each view, and ``masks`` a mask (R, S) of
        each view, True at frames of the video.
        """
        results = torch.stack(
            [
                layer(x, memory[name], masks[name][:, None, None])
                for name, layer in self.cross.items()
            ],
            dim=2,
        )  # (R, T, views, width)

        if self.weigh is None:
            return results.sum(2)
        hidden = self.weigh["state"](x)[:, :, None] + self.weigh["view"](results)
        scores = self.weigh["score"](torch.tanh(hidden))
        return (scores.softmax(2) * results).sum(2)


class DecoderLayer(nn.Module):
    """Decoder layer: self-attention, fusion of the views, feed-forward,
    with LayerNorm before each.
    """

    def __init__(self, sizes: TvtSizes) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(sizes.width) for _ in range(3))
        self.attention = Attention(sizes)
        self.fusion = Fusion(sizes)
        self.feed = _feed_forward(sizes)
        self.drop = nn.Dropout(sizes.dropout)

    def forward(
        self,
        x: torch.Tensor,
        past: Pair | None,
        causal: torch.Tensor,
        memory: Mapping[str, Pair],
        masks: Mapping[str, torch.Tensor],
    ) -> tuple[torch.Tensor, Pair]:
        """Return the output (R, T, width), and keys and values of all words so far.

        Parameters
        ----------
        x
            Inputs (R, T, width).
        past
            Keys and values of earlier words, or None.
        causal
            (T, past + T), True where a word may attend.
        memory, masks
            As for :class:`Fusion`.
        """
        y = self.norms[0](x)
        pair = self.attention.keys_values(y)
        if past is not None:
            pair = (
                torch.cat([past[0], pair[0]], dim=2),
                torch.cat([past[1], pair[1]], dim=2),
            )
        x = x + self.drop(self.attention(y, pair, causal))
        x = x + self.drop(self.fusion(self.norms[1](x), memory, masks))
        return x + self.drop(self.feed(self.norms[2](x))), pair


class ViewInput(nn.Module):
    """Linear layer over standardised features.

    Training sets mean and standard deviation.
    """

    mean: torch.Tensor
    """Mean of the features, (inputs,)."""
    deviation: torch.Tensor
    """Standard deviation of the features, (inputs,)."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("deviation", torch.ones(inputs))
        self.into = nn.Linear(inputs, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return vectors (B, S, width) of features (B, S, inputs)."""
        return self.into((x - self.mean) / self.deviation)


class Tvt(nn.Module):
    """TVT network: one encoder per view, and a decoder that fuses the views.

    Parameters
    ----------
    sizes
        Sizes and fusion.
    """

    def __init__(self, sizes: TvtSizes) -> None:
        super().__init__()
        self.sizes = sizes

        self.views = nn.ModuleDict(
            {name: ViewInput(size, sizes.width) for name, size in sizes.views.items()}
        )
        self.encoders = nn.ModuleDict()
        for name in sizes.views:
            layers = [EncoderLayer(sizes) for _ in range(sizes.encoder_layers)]
            self.encoders[name] = nn.ModuleList(layers)

        self.words = nn.Embedding(sizes.vocabulary, sizes.width, padding_idx=PAD)
        nn.init.normal_(self.words.weight, std=sizes.width**-0.5)
        layers = [DecoderLayer(sizes) for _ in range(sizes.decoder_layers)]
        self.decoder = nn.ModuleDict({"layers": nn.ModuleList(layers)})

        self.norm = nn.LayerNorm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary)
        self.drop = nn.Dropout(sizes.dropout)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path, config: Mapping[str, Any] | str | Path | None = None
    ) -> Tvt:
        """Return the model in a folder that training wrote (model.safetensors and
        config.json), in evaluation mode.

        Raises :class:`InputError` if the folder holds no sizes, or the tensors do not
        fit them.
        """
        checkpoint = load_checkpoint(path)
        settings = {**checkpoint.settings, **read_config(config)}

        if "sizes" not in settings:
            checkpoint.shape("head.weight", "TVT")
            raise InputError(
                "config.json beside the checkpoint holds no sizes", str(checkpoint.path)
            )
        try:
            sizes = TvtSizes(**settings["sizes"])
        except TypeError as error:
            raise InputError(
                f"the sizes in the configuration do not fit: {error}",
                str(checkpoint.path),
            ) from error

        model = cls(sizes)
        load_strictly(model, checkpoint, "TVT")
        return model

    def settings(self) -> dict[str, Any]:
        """Return the entries of config.json from which :meth:`from_checkpoint` builds
        the model.
        """
        return {"sizes": {**asdict(self.sizes), "views": dict(self.sizes.views)}}

    def encode(
        self, views: Mapping[str, torch.Tensor], masks: Mapping[str, torch.Tensor]
    ) -> dict[str, Any]:
        """Return the decoder's state before the first word.

        Parameters
        ----------
        views
            Features (B, S, width) of each view.
        masks
            (B, S) bool of each view, True at frames of the video.
        """
        memory: dict[str, torch.Tensor] = {}
        for name, into in self.views.items():
            x = into(views[name])
            x = self.drop(x + sinusoids(x.shape[1], x.shape[2], x.device))
            for layer in self.encoders[name]:  # type: ignore[union-attr]
                x = layer(x, masks[name][:, None, None])
            memory[name] = x

        layers: Any = self.decoder["layers"]
        pairs = tuple(
            {
                name: layer.fusion.cross[name].keys_values(x)
                for name, x in memory.items()
            }
            for layer in layers
        )
        return {"memory": pairs, "masks": dict(masks), "past": None, "length": 0}

    def advance(
        self, tokens: torch.Tensor, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits (R, T, V) after each of ``tokens`` (R, T),
        and the new state.
        """
        before = state["length"]
        length = tokens.shape[1]
        positions = sinusoids(before + length, self.sizes.width, tokens.device)[before:]
        x = self.drop(self.words(tokens) * math.sqrt(self.sizes.width) + positions)

        causal = torch.ones(
            length, before + length, dtype=torch.bool, device=tokens.device
        )
        causal = causal.tril(before)

        layers: Any = self.decoder["layers"]
        past = []
        for i, layer in enumerate(layers):
            x, pair = layer(
                x,
                state["past"][i] if state["past"] else None,
                causal,
                state["memory"][i],
                state["masks"],
            )
            past.append(pair)

        after = {**state, "past": tuple(past), "length": before + length}
        return self.head(self.norm(x)), after

    def forward(
        self,
        tokens: torch.Tensor,
        views: Mapping[str, torch.Tensor],
        masks: Mapping[str, torch.Tensor],
    ) -> torch.Tensor:
        """Return the logits (B, T, V) after each of ``tokens`` (B, T),
        of which the first is BOS.

        ``views`` and ``masks`` are as for :meth:`encode`.
        """
        return self.advance(tokens, self.encode(views, masks))[0]


class TvtStep:
    """Decoder step of TVT with cached keys and values; the first word is BOS."""

    def __init__(self, model: Tvt) -> None:
        self.model = model

    def __call__(
        self, tokens: torch.Tensor | None, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits (R, V) of the next word and the new state,
        for the last words (R,).
        """
        if tokens is None:
            raise ValueError(
                "TVT starts from its BOS word: batch.start must not be None"
            )
        logits, state = self.model.advance(tokens[:, None], state)
        return logits[:, 0], state
