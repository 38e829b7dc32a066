"""Video captioning network that fills the slots of a caption in parallel: NAB of Yang
et al. 2021, on which O2NA builds.

Yang, Zou, Liu and Zhang, "Non-Autoregressive Coarse-to-Fine Video Captioning" (2021),
arXiv 1911.12018. The state dict has the authors' keys. Shapes: ``B`` videos, ``R`` rows
of slots, ``T`` slots, ``V`` words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from harness.errors import InputError
from harness_models.o2na.layers import (
    PAD,
    Cache,
    Embedding,
    Encoder,
    Joint,
    Layer,
    LengthPredictor,
    VideoSizes,
)
from harness_models.shared.weights.checkpoint_config import heads_of, must_agree
from harness_models.shared.weights.checkpoints import Checkpoint
from harness_models.shared.weights.strict_loading import layer_count


def sizes_of(
    checkpoint: Checkpoint,
    settings: Mapping[str, Any],
    kind: str,
    base: str = "decoder.",
) -> dict[str, Any]:
    """Return the fields of :class:`VideoSizes` from the shapes of a checkpoint's
    tensors.

    Parameters
    ----------
    checkpoint
        Tensors with the authors' keys.
    settings
        Settings that the shapes do not determine.
    kind
        Name of the architecture, for error messages.
    base
        Prefix of the decoder's keys.

    Raises
    ------
    InputError
        If a setting contradicts a shape.
    """
    path = str(checkpoint.path)
    keys = checkpoint.tensors
    vocabulary, width = checkpoint.shape(
        f"{base}embedding.word_embeddings.weight", kind
    )
    max_len = checkpoint.shape(f"{base}embedding.position_embeddings.weight", kind)[0]
    category = f"{base}embedding.category_embeddings.weight"

    must_agree(
        settings,
        {"dim_hidden": width, "vocab_size": vocabulary, "max_len": max_len},
        path,
    )

    return {
        "features": _modalities(checkpoint, settings),
        "width": width,
        "vocabulary": vocabulary,
        "max_len": max_len,
        "layers": layer_count(keys, rf"{re.escape(base)}layer\.(\d+)\."),
        "heads": heads_of(settings, "num_attention_heads", width, 8, path),
        "inner": checkpoint.shape(f"{base}layer.0.intermediate.dense.weight", kind)[0],
        "categories": keys[category].shape[0] if category in keys else 0,
        "normalised": any(
            key.startswith("joint_representation_learner.") for key in keys
        ),
        "layer_norms": f"{base}layer.0.output.LayerNorm.weight" in keys,
        "output_bias": "tgt_word_prj.bias" in keys,
        "activation": settings.get("hidden_act", "gelu_new"),
        "eps": settings.get("layer_norm_eps", 1e-5),
    }


def _modalities(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> dict[str, int]:
    """Return the feature width of each modality,
    in the order of the setting ``modality``.
    """
    widths = {
        key.split(".")[1].removeprefix("Encoder_").lower(): tensor.shape[1]
        for key, tensor in checkpoint.tensors.items()
        if key.startswith("encoder.Encoder_") and key.endswith(".0.weight")
    }

    order = settings.get("modality") or "".join(
        name for name in "mioa" if name in widths
    )
    if sorted(order) != sorted(widths):
        raise InputError(
            f"the setting modality = {order!r}, the checkpoint has {sorted(widths)}",
            str(checkpoint.path),
        )
    return {name: widths[name] for name in order}


class Decoder(nn.Module):
    """Embedding and layers of the decoder."""

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.embedding = Embedding(sizes)
        self.layer = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))


@dataclass(frozen=True)
class Encoded:
    """Encoder output of B videos."""

    memory: torch.Tensor
    """(B, slots, width): motion frames first, then image frames."""
    category: torch.Tensor | None
    """Video categories (B,)."""
    mean: torch.Tensor
    """(B, width): mean of the memory, which is added to every slot."""
    keys_values: Cache
    """Keys and values of the memory for every decoder layer, (B, heads, slots, width /
    heads).
    """
    lengths: torch.Tensor | None
    """(B, max_len) log-probabilities of the number of words,
    where the model predicts it.
    """


class VideoNetwork(nn.Module):
    """Network that predicts the words of all slots in parallel.

    Parameters
    ----------
    sizes
        Sizes and options.
    """

    def __init__(self, sizes: VideoSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = Encoder(sizes)
        self.joint_representation_learner = Joint(sizes) if sizes.normalised else None
        self.auxiliary_task_predictor = self.build_length_predictor()
        self.decoder = self.build_decoder()
        self.tgt_word_prj = nn.Linear(
            sizes.width, sizes.vocabulary, bias=sizes.output_bias
        )

    def build_length_predictor(self) -> LengthPredictor | None:
        """Return the predictor of the number of words,
        None for a model that writes an end token.
        """
        return LengthPredictor(self.sizes)

    def build_decoder(self) -> nn.Module:
        """Return the module whose keys begin with ``decoder.``."""
        return Decoder(self.sizes)

    @property
    def core(self) -> Decoder:
        """The decoder."""
        return self.decoder  # type: ignore[return-value]

    def encode(
        self, features: Sequence[torch.Tensor], category: torch.Tensor | None = None
    ) -> Encoded:
        """Return the encoder output of B videos.

        Parameters
        ----------
        features
            One tensor (B, frames, feature width) per modality, in the order of
            ``sizes.features``.
        category
            Video categories (B,) or (B, 1), required if the model has categories.
        """
        dtype = self.tgt_word_prj.weight.dtype

        encoded = self.encoder([x.to(dtype) for x in features])
        joint = self.joint_representation_learner
        memory = torch.cat(encoded, dim=1) if joint is None else joint(encoded)
        predictor = self.auxiliary_task_predictor
        lengths = None if predictor is None else predictor(memory)

        category = None if category is None else category.reshape(-1)
        # before the keys: gradients of the memory are summed in this order, and stored
        # weights depend on it
        mean = memory.mean(1)
        layers: Any = self.core.layer
        keys_values = tuple(
            layer.attend_to_enc_output.keys_values(memory) for layer in layers
        )

        return Encoded(memory, category, mean, keys_values, lengths)

    def logits(self, tokens: torch.Tensor, encoded: Encoded) -> torch.Tensor:
        """Return logits (R, T, V) for slots (R, T) and the encoder output of R rows;
        entry t predicts token t.
        """
        return self.decode(tokens, encoded, (tokens == PAD)[:, None], encoded.mean)

    def decode(
        self,
        tokens: torch.Tensor,
        encoded: Encoded,
        hidden: torch.Tensor,
        more: torch.Tensor | None,
    ) -> torch.Tensor:
        """Return logits (R, T, V) for slots (R, T).

        ``hidden`` is broadcastable to (R, T, T) and True where a slot must not attend;
        ``more`` (R, width) is added to every slot.
        """
        x = self.core.embedding(tokens, 0, encoded.category, more)
        real = (tokens != PAD)[:, :, None].to(x.dtype)
        for index, layer in enumerate(self.core.layer):
            x, _ = layer(x, real, hidden, encoded.keys_values[index])
        return self.tgt_word_prj(x)
