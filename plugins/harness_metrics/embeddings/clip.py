"""Embedding ``clip``: the text tower of a CLIP model,
through open_clip with local weights.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import PathParam
from harness.errors import HarnessError, InputError, did_you_mean, require
from harness.files.announcements import announce
from harness.files.torchscript import (
    CLIP_SETTINGS,
    is_torchscript,
    read_openai_clip,
)
from harness.files.user_path import user_path
from harness_metrics.embeddings.local_model import (
    LocalModelEmbedding,
    weights_fingerprint,
)


class Clip(LocalModelEmbedding):
    """Text vectors of a CLIP model, unit length.

    Texts beyond the context of the model (77 tokens) are truncated.

    Parameters
    ----------
    weights : str
        Local file of open_clip weights: safetensors, or a state dictionary of tensors
        alone, or an archive of TorchScript (:mod:`harness.files.torchscript`).
    model : str
        Name of the architecture in open_clip.
    batch_size : int
        Texts per forward pass.

    References
    ----------
    Radford et al. 2021, *Learning Transferable Visual Models From Natural Language
    Supervision*.
    """

    name = "clip"

    def __init__(
        self, *, weights: PathParam, model: str = "ViT-B-32", batch_size: int = 64
    ) -> None:
        self.weights = user_path(weights)
        self.model = model
        self.batch_size = batch_size

    def signature(self) -> str:
        """Return ``clip|MODEL|HASH`` with the hash of the weights.

        Raises :class:`InputError` without the file.
        """
        return f"clip|{self.model}|{weights_fingerprint(self.weights)}"

    @cached_property
    def _loaded_model(self) -> tuple[Any, Any]:
        """The model and its tokenizer."""
        from harness.registry.torchvision_guard import guard_torchvision

        if not self.weights.is_file():
            raise InputError("no such file of CLIP weights", where=str(self.weights))
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        guard_torchvision()

        open_clip = require("open_clip", extra="clip", needed_by="embedding 'clip'")
        architectures = open_clip.list_models()
        if self.model not in architectures:
            hint = did_you_mean(self.model, architectures)
            raise HarnessError(
                f"embedding 'clip': open_clip has no model '{self.model}'{hint}"
            )

        with announce(f"loading CLIP {self.model}"):
            model = open_clip.create_model(self.model, pretrained=None, device="cpu")
            state = self._load_state(architectures)
        try:
            model.load_state_dict(state)
        except RuntimeError as error:
            # the first line says no more than that there are errors
            reason = str(error)
            if "\n" in reason:
                reason = reason.splitlines()[1].strip()
            raise InputError(
                f"not the weights of {self.model}: {reason[:200]}",
                where=str(self.weights),
            ) from error
        return model.eval(), open_clip.get_tokenizer(self.model)

    def _load_state(self, architectures: Sequence[str]) -> dict[str, Any]:
        """Return the tensors of the weights by name."""
        if not is_torchscript(self.weights):
            return load_state(self.weights)
        torch: Any = require("torch", extra="clip", needed_by="embedding 'clip'")
        open_clip = require("open_clip", extra="clip", needed_by="embedding 'clip'")
        quick_gelu = bool(open_clip.get_model_config(self.model).get("quick_gelu"))
        arrays = read_openai_clip(self.weights, self.model, quick_gelu, architectures)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def loaded_with_preprocess(self) -> tuple[Any, Any]:
        """Return the model and the transform from a PIL image to its input, a float
        tensor of shape (3, H, W).
        """
        model, _ = self._loaded_model
        open_clip = require("open_clip", extra="clip", needed_by="embedding 'clip'")
        preprocess = open_clip.image_transform(
            model.visual.image_size,
            is_train=False,
            mean=getattr(model.visual, "image_mean", None),
            std=getattr(model.visual, "image_std", None),
        )
        return model, preprocess

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return text vectors, float32, shape (T, d)."""
        import torch

        model, tokenizer = self._loaded_model
        vectors: list[np.ndarray] = []
        with torch.inference_mode():
            for start in range(0, len(texts), self.batch_size):
                tokens = tokenizer(list(texts[start : start + self.batch_size]))
                block = model.encode_text(tokens, normalize=True)
                vectors.append(block.float().numpy())
        return np.concatenate(vectors)


def load_state(path: Path) -> dict[str, Any]:
    """Return the tensors of a weights file by name, without the prefix ``module.``;
    nothing else is unpickled.

    Raises :class:`InputError` if the file holds anything but tensors.
    """
    if path.suffix == ".safetensors":
        safetensors = require(
            "safetensors.torch", extra="clip", needed_by="embedding 'clip'"
        )
        return safetensors.load_file(str(path))

    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(
            f"not a file of tensors alone: {reason}", where=str(path)
        ) from error

    state = state.get("state_dict", state)
    weights = {key.removeprefix("module."): value for key, value in state.items()}
    return {key: value for key, value in weights.items() if key not in CLIP_SETTINGS}
