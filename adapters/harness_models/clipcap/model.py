"""CLIPCap: a mapper from a CLIP vector to a prefix of GPT-2 input embeddings.

Mokady, Hertz and Bermano, "ClipCap: CLIP Prefix for Image Captioning" (2021), arXiv
2111.09734. Shapes: ``B`` captions, ``E`` images, ``R`` rows of the decoder, ``T``
tokens, ``V`` vocabulary entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness_models.clipcap.checkpoint_layout import OLD_BUFFERS, sizes_of, tied_tensors
from harness_models.clipcap.mappers import ClipCapSizes, MlpMapper, TransformerMapper
from harness_models.shared.gpt2 import Gpt2
from harness_models.shared.key_values import KeyValues
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly

__all__ = ["ClipCap", "ClipCapSizes", "ClipCapStep"]
_ROOM = 32
"""Number of tokens after the prefix for which a new cache has space. The cache grows
when it is full.
"""


class ClipCap(nn.Module):
    """CLIPCap network.

    The state dict has the authors' keys (``clip_project.*``, ``gpt.*``).

    Parameters
    ----------
    sizes
        Sizes of the mapper and of GPT-2.
    """

    def __init__(self, sizes: ClipCapSizes) -> None:
        super().__init__()
        self.sizes = sizes
        width = sizes.gpt2.width
        self.clip_project: nn.Module
        if sizes.mapper == "transformer":
            self.clip_project = TransformerMapper(
                sizes.clip,
                sizes.clip_length,
                sizes.prefix_length,
                width,
                sizes.layers,
                sizes.heads,
                sizes.hidden,
            )
        elif sizes.mapper == "mlp":
            self.clip_project = MlpMapper(
                sizes.clip, sizes.hidden, sizes.prefix_length * width
            )
        else:
            self.clip_project = nn.Linear(sizes.clip, sizes.prefix_length * width)
        self.gpt = Gpt2(sizes.gpt2)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path, config: Mapping[str, Any] | str | Path | None = None
    ) -> ClipCap:
        """Return the model of a checkpoint, in evaluation mode.

        Parameters
        ----------
        path
            ``.pt`` or ``.safetensors`` file, or a folder that ``harness convert``
            wrote.
        config
            Mapping or JSON file with the values that tensor shapes do not determine:
            ``n_head`` of GPT-2 (default: heads of width 64), ``mapper_heads`` (8),
            ``normalise`` (default: true for the transformer mapper). Sizes in it must
            agree with the shapes.

        Raises
        ------
        InputError
            If the tensors are not those of CLIPCap. The message lists the keys and
            names the architecture that they resemble.
        """
        loaded = load_checkpoint(path)
        settings = {**loaded.settings, **read_config(config)}
        settings = {**settings, **settings.get("gpt2_config", {})}
        tensors = tied_tensors(loaded.tensors)
        checkpoint = Checkpoint(tensors, loaded.settings, loaded.path)

        model = cls(sizes_of(checkpoint, settings))

        # A checkpoint whose output layer differs from the word embedding was not tied.
        if not torch.equal(
            tensors["gpt.transformer.wte.weight"], tensors["gpt.lm_head.weight"]
        ):
            model.gpt.lm_head = nn.Linear(
                model.sizes.gpt2.width, model.sizes.gpt2.vocabulary, bias=False
            )
        load_strictly(model, checkpoint, "CLIPCap", ignored=OLD_BUFFERS)
        return model

    def prefix_embeddings(self, prefix: torch.Tensor) -> torch.Tensor:
        """Return GPT-2 input embeddings (B, prefix_length, width) of CLIP vectors (B,
        clip), without normalising the vectors.
        """
        mapped = self.clip_project(prefix.to(self.gpt.lm_head.weight.dtype))
        return mapped.reshape(len(prefix), self.sizes.prefix_length, -1)

    def forward(
        self,
        tokens: torch.Tensor,
        prefix: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits (B, prefix_length + T, V) of all positions.

        Parameters
        ----------
        tokens
            Token ids (B, T).
        prefix
            CLIP vectors (B, clip).
        mask
            (B, T) or (B, prefix_length + T), 0 at padding, which no position attends
            to. Padding at the end does not change the logits before it.

        Returns
        -------
        torch.Tensor
            Logits; position ``prefix_length - 1 + t`` predicts token t.
        """
        words = self.gpt.transformer.wte(tokens)
        if mask is not None:
            before = words.shape[1] + self.sizes.prefix_length - mask.shape[1]
            mask = nn.functional.pad(mask.bool(), (before, 0), value=True)
        return self.gpt.logits(
            self.gpt(
                torch.cat([self.prefix_embeddings(prefix), words], dim=1), seen=mask
            )
        )

    def caption_logits(
        self, tokens: torch.Tensor, prefix: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (B, T, V) for tokens (B, T) and CLIP vectors (B, clip);
        entry t predicts token t.
        """
        return self(tokens[:, :-1], prefix)[:, self.sizes.prefix_length - 1 :]


class ClipCapStep:
    """Decoder step of CLIPCap with cached keys and values.

    The first state is ``{"prefix": (E, prefix_length, width)}``; later states are
    :class:`KeyValues`.
    """

    def __init__(self, model: ClipCap) -> None:
        self.model = model

    def __call__(
        self, tokens: torch.Tensor | None, state: Any
    ) -> tuple[torch.Tensor, KeyValues]:
        """Return the logits (R, V) of the next token and the new state, for the last
        tokens (R,) or None at the first step.
        """
        gpt = self.model.gpt
        if tokens is None:
            inputs = state["prefix"]
            cache = gpt.new_cache(state["prefix"].shape[1] + _ROOM)
        else:
            inputs = gpt.transformer.wte(tokens)[:, None]
            cache = state
        return gpt.logits(gpt(inputs, cache)[:, -1]), cache
