"""NACF, NAB and ARB (Yang, Zou, Liu, Zhang 2021): video captioning with a length predictor, and its left-to-right teacher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from harness.adapters.nacf.layers import PAD, Cache, Embedding, Encoder, Joint, Layer, LengthPredictor, NacfSizes
from harness.adapters.shared.weights.checkpoint_config import heads_of, must_agree, read_config
from harness.adapters.shared.weights.checkpoints import Checkpoint, layer_count, load_checkpoint, load_strictly
from harness.errors import InputError

_UNUSED = (r"\.pos_LN\.",)
_UNSUPPORTED = {"pos_attention": (False,), "watch": (0,), "fusion": ("temporal_concat",), "enhance_input": (0, 2)}


class _Decoder(nn.Module):
    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.embedding = Embedding(sizes)
        self.layer = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))


class _Disentangled(nn.Module):
    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.bert = _Decoder(sizes)


@dataclass(frozen=True)
class Encoded:
    """What the decoder needs of B videos."""

    memory: torch.Tensor
    """(B, slots, width): motion frames first, then image frames."""
    category: torch.Tensor | None
    """(B,)"""
    mean: torch.Tensor
    """(B, width): the mean memory, which NAB and NACF add to every slot."""
    keys_values: Cache
    """Keys and values of the memory for every decoder layer, (B, heads, slots, width / heads)."""
    lengths: torch.Tensor | None
    """(B, max_len) log-probabilities of the number of words (NAB, NACF)."""


class Nacf(nn.Module):
    """State dict keys are the authors'. One class for the family: the keys tell the method."""

    def __init__(self, sizes: NacfSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder = Encoder(sizes)
        self.joint_representation_learner = Joint(sizes) if sizes.normalised else None
        self.auxiliary_task_predictor = None if sizes.left_to_right else LengthPredictor(sizes)
        self.decoder: nn.Module = _Disentangled(sizes) if sizes.disentangled else _Decoder(sizes)
        self.tgt_word_prj = nn.Linear(sizes.width, sizes.vocabulary, bias=sizes.output_bias)

    @classmethod
    def from_checkpoint(
        cls, path: str | Path | Checkpoint, config: Mapping[str, Any] | str | Path | None = None
    ) -> Nacf:
        """The model in a ``best.pth.tar`` (whose own settings are used), ``.pt`` or ``.safetensors`` file, in evaluation mode.

        ``config`` is needed only for what shapes do not tell: ``num_attention_heads`` (8), ``hidden_act``, ``enhance_input``.
        Raises :class:`InputError` listing keys that do not fit (an O2NA checkpoint is compared in the same way).
        """
        checkpoint = path if isinstance(path, Checkpoint) else load_checkpoint(path)
        method = method_of(checkpoint)
        settings = _settings(checkpoint.settings, method) | _settings(read_config(config), method)
        sizes = sizes_of(checkpoint, settings, method)
        model = cls(sizes)
        load_strictly(model, checkpoint, f"{method} (NACF family)", ignored=_UNUSED)
        return model

    # ------------------------------------------------------------------ encoder
    def encode(self, features: Sequence[torch.Tensor], category: torch.Tensor | None = None) -> Encoded:
        """``features``: per modality (B, frames, width), in the order of ``sizes.features``; ``category`` (B,) or (B, 1)."""
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
        """(R, T, V): for left-to-right models entry t predicts token t + 1, for the others token t itself."""
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

    def forward(
        self, feats: Sequence[torch.Tensor], tgt_tokens: torch.Tensor, category: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Logits as in training. NAB, NACF: (B, T, V) for slots (B, T). ARB: (B, T - 1, V), entry t predicting token t + 1; the
        last token has nothing to predict."""
        tokens = tgt_tokens[:, :-1] if self.sizes.left_to_right else tgt_tokens
        return self.logits(tokens, self.encode(feats, category))


class ArbStep:
    """One token at a time for ARB models, cached. State: the encoded rows, the caches, and which past tokens are padding."""

    def __init__(self, model: Nacf) -> None:
        self.model = model

    def start(self, encoded: Encoded) -> dict[str, Any]:
        pads = torch.zeros(len(encoded.memory), 0, dtype=torch.bool, device=encoded.memory.device)
        return {"encoded": encoded, "past": None, "pads": pads}

    def __call__(self, tokens: torch.Tensor | None, state: dict[str, Any]) -> tuple[torch.Tensor, dict[str, Any]]:
        if tokens is None:
            raise ValueError("ARB starts from its BOS token: give batch.start")
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


# --------------------------------------------------------------------------- sizes
def method_of(checkpoint: Checkpoint) -> str:
    """ARB, ARB2, NAB or NACF, by the keys."""
    keys = checkpoint.tensors
    checkpoint.shape("tgt_word_prj.weight", "NACF-family")
    predicts = any(key.startswith("auxiliary_task_predictor.") for key in keys)
    if any(key.startswith("decoder.bert.") for key in keys):
        return "NACF" if predicts else "ARB2"
    return "NAB" if predicts else "ARB"


def _settings(given: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Settings as they lie in a checkpoint, in a converted one, or by method in one file."""
    inner = given.get("settings", given)
    return dict(inner.get(method, inner))


def sizes_of(checkpoint: Checkpoint, settings: Mapping[str, Any], method: str) -> NacfSizes:
    """All sizes from the shapes; raises :class:`InputError` for options that are not supported or that shapes contradict."""
    where, keys = str(checkpoint.path), checkpoint.tensors
    for name, allowed in _UNSUPPORTED.items():
        if settings.get(name, allowed[-1]) not in allowed:
            raise InputError(f"the setting {name} = {settings[name]!r} is not supported", where)
    base = "decoder.bert." if method in ("ARB2", "NACF") else "decoder."
    vocabulary, width = checkpoint.shape(f"{base}embedding.word_embeddings.weight", "NACF-family")
    max_len = checkpoint.shape(f"{base}embedding.position_embeddings.weight", "NACF-family")[0]
    category = f"{base}embedding.category_embeddings.weight"
    features = _modalities(checkpoint, settings)
    told = {"dim_hidden": width, "vocab_size": vocabulary, "max_len": max_len}
    must_agree(settings, told, where)
    return NacfSizes(
        method=method, features=features, width=width, vocabulary=vocabulary, max_len=max_len,
        layers=layer_count(keys, rf"{base.replace('.', chr(92) + '.')}layer\.(\d+)\."),
        heads=heads_of(settings, "num_attention_heads", width, 8, where),
        inner=checkpoint.shape(f"{base}layer.0.intermediate.dense.weight", "NACF-family")[0],
        categories=keys[category].shape[0] if category in keys else 0,
        normalised=any(key.startswith("joint_representation_learner.") for key in keys),
        layer_norms=f"{base}layer.0.output.LayerNorm.weight" in keys,
        output_bias="tgt_word_prj.bias" in keys, enhance=settings.get("enhance_input", 2),
        activation=settings.get("hidden_act", "gelu_new"), eps=settings.get("layer_norm_eps", 1e-5),
    )  # fmt: skip


def _modalities(checkpoint: Checkpoint, settings: Mapping[str, Any]) -> dict[str, int]:
    found = {
        key.split(".")[1].removeprefix("Encoder_").lower(): tensor.shape[1]
        for key, tensor in checkpoint.tensors.items()
        if key.startswith("encoder.Encoder_") and key.endswith(".0.weight")
    }
    order = settings.get("modality") or "".join(name for name in "mioa" if name in found)
    if sorted(order) != sorted(found):
        raise InputError(f"the setting modality = {order!r}, the checkpoint has {sorted(found)}", str(checkpoint.path))
    return {name: found[name] for name in order}
