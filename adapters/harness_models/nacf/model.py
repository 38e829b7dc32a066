"""NACF, NAB and ARB: video captioning networks of one family.

Yang, Zou, Liu and Zhang, "Non-Autoregressive Coarse-to-Fine Video Captioning" (2021),
arXiv 1911.12018. NAB and NACF fill slots in parallel and have a length predictor; ARB
is their left-to-right teacher. Shapes: ``B`` videos, ``R`` rows of slots, ``T`` slots,
``V`` words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness_models.nacf.checkpoint_layout import (
    UNUSED,
    NacfSizes,
    method_of,
    nacf_sizes,
    settings_of,
)
from harness_models.o2na.layers import PAD, LengthPredictor
from harness_models.o2na.network import Decoder, Encoded, VideoNetwork
from harness_models.shared.weights.checkpoint_config import read_config
from harness_models.shared.weights.checkpoints import Checkpoint, load_checkpoint
from harness_models.shared.weights.strict_loading import load_strictly


class _Disentangled(nn.Module):
    """Decoder whose keys begin with ``bert.``."""

    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.bert = Decoder(sizes)


class Nacf(VideoNetwork):
    """Network of the NACF family.

    The state dict has the authors' keys, which determine the method.

    Parameters
    ----------
    sizes
        Method, sizes and options.
    """

    sizes: NacfSizes

    def build_length_predictor(self) -> LengthPredictor | None:
        """Return the predictor of the number of words of NAB and NACF, None for ARB."""
        return None if self.sizes.left_to_right else super().build_length_predictor()

    def build_decoder(self) -> nn.Module:
        """Return the decoder, whose keys begin with ``decoder.bert.`` for NACF and
        ARB2.
        """
        return (
            _Disentangled(self.sizes)
            if self.sizes.is_disentangled
            else super().build_decoder()
        )

    @property
    def core(self) -> Decoder:
        """The decoder, without the module around that of NACF and ARB2."""
        return (
            self.decoder.bert
            if isinstance(self.decoder, _Disentangled)
            else super().core
        )

    @classmethod
    def from_checkpoint(
        cls,
        path: str | Path | Checkpoint,
        config: Mapping[str, Any] | str | Path | None = None,
    ) -> Nacf:
        """Return the model of a checkpoint, in evaluation mode.

        Parameters
        ----------
        path
            ``best.pth.tar`` (with the settings in it), ``.pt`` or ``.safetensors``
            file, or a loaded checkpoint.
        config
            Mapping or JSON file with the values that tensor shapes do not determine:
            ``num_attention_heads`` (8), ``hidden_act``, ``enhance_input``. It takes
            precedence over the settings of the checkpoint.

        Raises
        ------
        InputError
            If tensors are missing, unexpected or of another shape. The message lists
            them.
        """
        checkpoint = path if isinstance(path, Checkpoint) else load_checkpoint(path)
        method = method_of(checkpoint)
        settings = settings_of(checkpoint.settings, method)
        settings |= settings_of(read_config(config), method)
        model = cls(nacf_sizes(checkpoint, settings, method))
        load_strictly(model, checkpoint, f"{method} (NACF family)", ignored=UNUSED)
        return model

    def logits(self, tokens: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        """Return logits (R, T, V) for slots (R, T) and the encoder output of R rows.

        Entry t predicts token t + 1 in left-to-right models, and token t in the others.
        """
        hidden = (tokens == PAD)[:, None]
        if not self.sizes.left_to_right:
            mean = encoded.mean if self.sizes.enhance == 2 else None
            return self.decode(tokens, encoded, hidden, mean)

        size = tokens.shape[1]
        future = torch.ones(size, size, dtype=torch.bool, device=tokens.device).triu(1)
        return self.decode(tokens, encoded, hidden | future, None)

    def forward(
        self,
        feats: Sequence[torch.Tensor],
        tgt_tokens: torch.Tensor,
        category: torch.Tensor | None = None,
    ) -> torch.Tensor:
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
            NAB, NACF: (B, T, V), entry t predicting token t. ARB: (B, T - 1, V), entry
            t predicting token t + 1.
        """
        tokens = tgt_tokens[:, :-1] if self.sizes.left_to_right else tgt_tokens
        return self.logits(tokens, self.encode(feats, category))


class ArbStep:
    """Decoder step of ARB models with cached keys and values.

    The state holds the encoder output of the rows, the caches, and a mask of past
    tokens that are padding.
    """

    def __init__(self, model: Nacf) -> None:
        self.model = model

    def start(self, encoded: Encoded) -> dict[str, Any]:
        """Return the state before BOS, with one row per video of ``encoded``."""
        pads = torch.zeros(
            len(encoded.memory), 0, dtype=torch.bool, device=encoded.memory.device
        )
        return {"encoded": encoded, "past": None, "pads": pads}

    def __call__(
        self, tokens: torch.Tensor | None, state: dict[str, Any]
    ) -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the logits (R, V) of the next word and the new state,
        for the last words (R,).
        """
        if tokens is None:
            raise ValueError(
                "ARB starts from its BOS token: batch.start must not be None"
            )

        core = self.model.core
        encoded = state["encoded"]
        pad = tokens[:, None] == PAD
        pads = torch.cat([state["pads"], pad], dim=1)
        x = core.embedding(
            tokens[:, None], state["pads"].shape[1], encoded.category, None
        )

        real = (~pad)[:, :, None].to(x.dtype)
        presents = []
        for index, layer in enumerate(core.layer):
            past = state["past"][index] if state["past"] else None
            x, present = layer(x, real, pads[:, None], encoded.keys_values[index], past)
            presents.append(present)

        return self.model.tgt_word_prj(x[:, 0]), {
            "encoded": encoded,
            "past": tuple(presents),
            "pads": pads,
        }
