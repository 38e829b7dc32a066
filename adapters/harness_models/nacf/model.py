"""NACF, NAB and ARB: video captioning networks of one family.

Yang, Zou, Liu and Zhang, "Non-Autoregressive Coarse-to-Fine Video Captioning" (2021), arXiv 1911.12018. NAB and NACF fill slots in parallel
and have a length predictor; ARB is their left-to-right teacher. Shapes: ``B`` videos, ``R`` rows of slots, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness_models.nacf.authors import UNUSED, method_of, settings_of, sizes_of
from harness_models.nacf.layers import PAD, Cache, Embedding, Encoder, Joint, Layer, LengthPredictor, NacfSizes
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint, load_strictly


class _Decoder(nn.Module):
    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.embedding = Embedding(sizes)
        self.layer = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))


class _Disentangled(nn.Module):
    """Decoder whose keys begin with ``bert.``."""

    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.bert = _Decoder(sizes)


@dataclass(frozen=True)
class Encoded:
    """Encoder output of B videos."""

    memory: torch.Tensor
    """(B, slots, width): motion frames first, then image frames."""
    category: torch.Tensor | None
    """Video categories (B,)."""
    mean: torch.Tensor
    """(B, width): mean of the memory, which NAB and NACF add to every slot."""
    keys_values: Cache
    """Keys and values of the memory for every decoder layer, (B, heads, slots, width / heads)."""
    lengths: torch.Tensor | None
    """(B, max_len) log-probabilities of the number of words (NAB, NACF)."""


class Nacf(nn.Module):
    """Network of the NACF family. The state dict has the authors' keys, which determine the method.

    Parameters
    ----------
    sizes
        Method, sizes and options.
    """

    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = Encoder(sizes)
        self.joint_representation_learner = Joint(sizes) if sizes.normalised else None
        self.auxiliary_task_predictor = None if sizes.left_to_right else LengthPredictor(sizes)
        self.decoder: nn.Module = _Disentangled(sizes) if sizes.is_disentangled else _Decoder(sizes)
        self.tgt_word_prj = nn.Linear(sizes.width, sizes.vocabulary, bias=sizes.output_bias)

    @classmethod
    def from_checkpoint(cls, path: str | Path | Checkpoint, config: Mapping[str, Any] | str | Path | None = None) -> Nacf:
        """Return the model of a checkpoint, in evaluation mode.

        Parameters
        ----------
        path
            ``best.pth.tar`` (with the settings in it), ``.pt`` or ``.safetensors`` file, or a loaded checkpoint.
        config
            Mapping or JSON file with the values that tensor shapes do not determine: ``num_attention_heads`` (8), ``hidden_act``,
            ``enhance_input``. It takes precedence over the settings of the checkpoint.

        Raises
        ------
        InputError
            If tensors are missing, unexpected or of another shape. The message lists them.
        """
        checkpoint = path if isinstance(path, Checkpoint) else load_checkpoint(path)
        method = method_of(checkpoint)
        settings = settings_of(checkpoint.settings, method) | settings_of(read_config(config), method)
        sizes = sizes_of(checkpoint, settings, method)
        model = cls(sizes)
        load_strictly(model, checkpoint, f"{method} (NACF family)", ignored=UNUSED)
        return model

    # ------------------------------------------------------------------ encoder
    def encode(self, features: Sequence[torch.Tensor], category: torch.Tensor | None = None) -> Encoded:
        """Return the encoder output of B videos.

        Parameters
        ----------
        features
            One tensor (B, frames, feature width) per modality, in the order of ``sizes.features``.
        category
            Video categories (B,) or (B, 1), required if the model has categories.
        """
        dtype = self.tgt_word_prj.weight.dtype
        encoded = self.encoder([x.to(dtype) for x in features])
        joint = self.joint_representation_learner
        memory = torch.cat(encoded, dim=1) if joint is None else joint(encoded)
        lengths = None if self.auxiliary_task_predictor is None else self.auxiliary_task_predictor(memory)
        category = None if category is None else category.reshape(-1)
        return Encoded(memory, category, memory.mean(1), self._memory_keys(memory), lengths)

    def _core(self) -> _Decoder:
        return self.decoder.bert if isinstance(self.decoder, _Disentangled) else self.decoder  # type: ignore[return-value]

    def _memory_keys(self, memory: torch.Tensor) -> Cache:
        return tuple(layer.attend_to_enc_output.keys_values(memory) for layer in self._core().layer)  # type: ignore[union-attr]

    # ------------------------------------------------------------------ decoder
    def logits(self, tokens: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        """Return logits (R, T, V) for slots (R, T) and the encoder output of R rows.

        Entry t predicts token t + 1 in left-to-right models, and token t in the others.
        """
        length, pad = tokens.shape[1], tokens == PAD
        hidden = pad[:, None]
        if self.sizes.left_to_right:
            future = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
            hidden = hidden | future
        more = encoded.mean if not self.sizes.left_to_right and self.sizes.enhance == 2 else None
        x = self._core().embedding(tokens, 0, encoded.category, more)
        real = (~pad)[:, :, None].to(x.dtype)
        for index, layer in enumerate(self._core().layer):
            x, _ = layer(x, real, hidden, encoded.keys_values[index])
        return self.tgt_word_prj(x)

    def forward(self, feats: Sequence[torch.Tensor], tgt_tokens: torch.Tensor, category: torch.Tensor | None = None) -> torch.Tensor:
        """Return the logits of training.

        Parameters
        ----------
        feats
            One tensor (B, frames, feature width) per modality.
        tgt_tokens
            Word ids (B, T).
        category
            Video categories (B,) or (B, 1).

        Returns
        -------
        torch.Tensor
            NAB, NACF: (B, T, V), entry t predicting token t. ARB: (B, T - 1, V), entry t predicting token t + 1.
        """
        tokens = tgt_tokens[:, :-1] if self.sizes.left_to_right else tgt_tokens
        return self.logits(tokens, self.encode(feats, category))


class ArbStep:
    """Decoder step of ARB models with cached keys and values.

    The state holds the encoder output of the rows, the caches, and a mask of past tokens that are padding.
    """

    def __init__(self, model: Nacf) -> None:
        self.model = model

    def start(self, encoded: Encoded) -> dict[str, Any]:
        """Return the state before BOS, with one row per video of ``encoded``."""
        pads = torch.zeros(len(encoded.memory), 0, dtype=torch.bool, device=encoded.memory.device)
        return {"encoded": encoded, "past": None, "pads": pads}

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits (R, V) of the next word and the new state, for the last words (R,)."""
        if tokens is None:
            raise ValueError("ARB starts from its BOS token: batch.start must not be None")
        core, encoded = self.model._core(), state["encoded"]
        pad = tokens[:, None] == PAD
        pads = torch.cat([state["pads"], pad], dim=1)
        x = core.embedding(tokens[:, None], state["pads"].shape[1], encoded.category, None)
        real = (~pad)[:, :, None].to(x.dtype)
        presents = []
        for index, layer in enumerate(core.layer):
            past = state["past"][index] if state["past"] else None
            x, present = layer(x, real, pads[:, None], encoded.keys_values[index], past)
            presents.append(present)
        return self.model.tgt_word_prj(x[:, 0]), {"encoded": encoded, "past": tuple(presents), "pads": pads}
