"""CLIPCap (Mokady, Hertz, Bermano 2021, arXiv 2111.09734): a mapper from CLIP to a GPT-2 prefix, all sizes read off the checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness.adapters.clipcap.mappers import MlpMapper, TransformerMapper
from harness.adapters.shared.layers.gpt2 import Gpt2, Gpt2Sizes
from harness.adapters.shared.layers.key_values import KeyValues
from harness.adapters.shared.weights.checkpoint_config import heads_of, must_agree, read_config
from harness.adapters.shared.weights.checkpoints import Checkpoint, layer_count, load_checkpoint, load_strictly
from harness.errors import InputError

_OLD_BUFFERS = (r"^gpt\.transformer\.h\.\d+\.attn\.(bias|masked_bias)$",)
_MAPPER_HEADS = 8
_ROOM = 32
"""Tokens that a new cache has places for behind the prefix; it grows when they are full."""


@dataclass(frozen=True, kw_only=True)
class ClipCapSizes:
    """What a CLIPCap model is built from."""

    mapper: str
    """mlp | linear | transformer."""
    clip: int
    """Width of the CLIP vector."""
    prefix_length: int
    gpt2: Gpt2Sizes
    hidden: int = 0
    """Hidden width of the MLP; feed-forward width of the transformer mapper."""
    clip_length: int = 0
    layers: int = 0
    heads: int = _MAPPER_HEADS
    normalise: bool = False
    """Whether the adapter divides the CLIP vector by its L2 norm before it is mapped."""


class ClipCap(nn.Module):
    """State dict keys are the authors' (``clip_project.*``, ``gpt.*``)."""

    def __init__(self, sizes: ClipCapSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.gpt2.width
        self.clip_project: nn.Module
        if sizes.mapper == "transformer":
            self.clip_project = TransformerMapper(
                sizes.clip, sizes.clip_length, sizes.prefix_length, width, sizes.layers, sizes.heads, sizes.hidden
            )
        elif sizes.mapper == "mlp":
            self.clip_project = MlpMapper(sizes.clip, sizes.hidden, sizes.prefix_length * width)
        else:
            self.clip_project = nn.Linear(sizes.clip, sizes.prefix_length * width)
        self.gpt = Gpt2(sizes.gpt2)

    @classmethod
    def from_checkpoint(cls, path: str | Path, config: Mapping[str, Any] | str | Path | None = None) -> ClipCap:
        """The model in a ``.pt`` or ``.safetensors`` file (or a folder that ``harness convert`` wrote), in evaluation mode.

        ``config`` (mapping or JSON file) is needed only for what shapes do not tell: ``n_head`` of GPT-2 (default: 64 wide
        heads), ``mapper_heads`` (8), ``normalise`` (default: for the transformer mapper). Sizes it gives must agree.
        Raises :class:`InputError` listing the keys of a checkpoint that is not CLIPCap's, and what it looks like.
        """
        loaded = load_checkpoint(path)
        settings = {**loaded.settings, **read_config(config)}
        settings = {**settings, **settings.get("gpt2_config", {})}
        tensors = dict(loaded.tensors)
        words, head = "gpt.transformer.wte.weight", "gpt.lm_head.weight"
        for one, other in ((words, head), (head, words)):  # tied: some writers keep only one of the two
            if one in tensors:
                tensors.setdefault(other, tensors[one])
        checkpoint = Checkpoint(tensors, loaded.settings, loaded.path)
        model = cls(sizes_of(checkpoint, settings))
        if not torch.equal(tensors[words], tensors[head]):
            model.gpt.lm_head = nn.Linear(model.sizes.gpt2.width, model.sizes.gpt2.vocabulary, bias=False)
        load_strictly(model, checkpoint, "CLIPCap", ignored=_OLD_BUFFERS)
        return model

    def prefix_embeddings(self, prefix: torch.Tensor) -> torch.Tensor:
        """(B, prefix_length, width) GPT-2 input embeddings of CLIP vectors (B, clip), mapped as they stand."""
        mapped = self.clip_project(prefix.to(self.gpt.lm_head.weight.dtype))
        return mapped.reshape(len(prefix), self.sizes.prefix_length, -1)

    def forward(self, tokens: torch.Tensor, prefix: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Logits (B, prefix_length + T, V) of all positions, given tokens (B, T) and CLIP vectors (B, clip) as they stand.

        Position ``prefix_length - 1 + t`` predicts token t. ``mask`` (B, T) or (B, prefix_length + T) is 0 at padding, which
        then nothing looks at (padding at the end never changes what stands before it).
        """
        words = self.gpt.transformer.wte(tokens)
        if mask is not None:
            before = words.shape[1] + self.sizes.prefix_length - mask.shape[1]
            mask = nn.functional.pad(mask.bool(), (before, 0), value=True)
        return self.gpt.logits(self.gpt(torch.cat([self.prefix_embeddings(prefix), words], dim=1), seen=mask))

    def caption_logits(self, tokens: torch.Tensor, prefix: torch.Tensor) -> torch.Tensor:
        """(B, T, V): entry t predicts token t of ``tokens`` (B, T)."""
        return self(tokens[:, :-1], prefix)[:, self.sizes.prefix_length - 1 :]


class ClipCapStep:
    """One token at a time, cached; the first state is ``{"prefix": (E, prefix_length, width)}``, later ones are caches."""

    def __init__(self, model: ClipCap) -> None:
        self.model = model

    def __call__(self, tokens: torch.Tensor | None, state: Any) -> tuple[torch.Tensor, KeyValues]:
        gpt = self.model.gpt
        if tokens is None:
            prefix, cache = state["prefix"], gpt.new_cache(state["prefix"].shape[1] + _ROOM)
        else:
            prefix, cache = gpt.transformer.wte(tokens)[:, None], state
        return gpt.logits(gpt(prefix, cache)[:, -1]), cache


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> ClipCapSizes:
    """All sizes from the shapes; raises :class:`InputError` where the checkpoint is another architecture or contradicts ``settings``."""
    where = str(checkpoint.path)
    keys = checkpoint.tensors
    vocabulary, width = checkpoint.shape("gpt.transformer.wte.weight", "CLIPCap")
    positions = checkpoint.shape("gpt.transformer.wpe.weight", "CLIPCap")[0]
    layers = layer_count(keys, r"gpt\.transformer\.h\.(\d+)\.")
    inner = checkpoint.shape("gpt.transformer.h.0.mlp.c_fc.weight", "CLIPCap")[1]
    heads = heads_of(settings, "n_head", width, width // 64 if width % 64 == 0 else None, where)
    activation = settings.get("activation_function", "gelu_new")
    if activation not in ("gelu_new", "gelu_pytorch_tanh"):
        raise InputError(f"GPT-2's activation is gelu_new; the configuration says {activation!r}", where)
    eps = float(settings.get("layer_norm_epsilon", 1e-5))
    gpt2 = Gpt2Sizes(
        vocabulary=vocabulary, positions=positions, width=width, layers=layers, heads=heads, inner=inner, eps=eps
    )
    sizes = _mapper_sizes(checkpoint, settings, gpt2)
    told = {"prefix_length": sizes.prefix_length, "prefix_size": sizes.clip, "vocab_size": vocabulary, "n_embd": width}
    told |= {"n_layer": layers, "n_positions": positions}
    if sizes.mapper == "transformer":
        told |= {"clip_length": sizes.clip_length, "num_mapper_layers": sizes.layers}
    must_agree(settings, told, where)
    return sizes


def _mapper_sizes(checkpoint: Checkpoint, settings: Mapping[str, Any], gpt2: Gpt2Sizes) -> ClipCapSizes:
    keys, width = checkpoint.tensors, gpt2.width
    normalise = settings.get("normalise")
    if "clip_project.prefix_const" in keys:
        rows, clip = checkpoint.shape("clip_project.linear.weight", "CLIPCap")
        heads = heads_of(settings, "mapper_heads", width, _MAPPER_HEADS, str(checkpoint.path))
        if rows % width:
            raise InputError(
                f"the mapper's first map gives {rows} numbers, no multiple of GPT-2's width {width}",
                str(checkpoint.path),
            )
        return ClipCapSizes(
            mapper="transformer", clip=clip, gpt2=gpt2, clip_length=rows // width, heads=heads,
            prefix_length=checkpoint.shape("clip_project.prefix_const", "CLIPCap")[0],
            layers=layer_count(keys, r"clip_project\.transformer\.layers\.(\d+)\."),
            hidden=checkpoint.shape("clip_project.transformer.layers.0.mlp.fc1.weight", "CLIPCap")[0],
            normalise=True if normalise is None else bool(normalise),
        )  # fmt: skip
    single = "clip_project.weight" in keys
    first, last = (
        ("clip_project.weight",) * 2 if single else ("clip_project.model.0.weight", "clip_project.model.2.weight")
    )
    hidden, clip = checkpoint.shape(first, "CLIPCap")
    outputs = checkpoint.shape(last, "CLIPCap")[0]
    if outputs % width:
        raise InputError(
            f"the mapper gives {outputs} numbers, no multiple of GPT-2's width {width}", str(checkpoint.path)
        )
    return ClipCapSizes(
        mapper="linear" if single else "mlp", clip=clip, gpt2=gpt2, hidden=hidden,
        prefix_length=outputs // width, normalise=bool(normalise),
    )  # fmt: skip
