"""CLIP, SigLIP and other models of texts and images by transformers, from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.encoders.model_folders import check_tokenizer
from harness.encoders.precision import Precision, weight_dtype
from harness.encoders.pretrained import load_pretrained
from harness.errors import InputError, require
from harness.files.announcements import announce
from harness.registry.torchvision_guard import guard_torchvision

PADDED = frozenset({"siglip", "siglip2"})
"""Kinds of models that were trained on texts of one length, without a mask."""


class TransformersTowers:
    """A model of transformers with ``get_text_features`` and ``get_image_features``.

    Parameters
    ----------
    folder : Path
        Folder with configuration, weights, tokenizer and image processor.
    device : str
        Name of a torch device.
    precision : str
        Number format of the forward pass.

    Raises
    ------
    InputError
        For a model of another kind, or a folder without tokenizer or image processor.
    """

    def __init__(self, folder: Path, device: str, precision: Precision) -> None:
        self.name = f"the model {folder.name}"
        self.folder = folder
        self.device = device
        self.precision: Precision = precision
        guard_torchvision()
        transformers = require("transformers", extra="models", needed_by=self.name)
        with announce(f"loading {self.name}"):
            network = load_pretrained(transformers.AutoModel, folder)
            if not hasattr(network, "get_text_features"):
                raise InputError(
                    f"a model of type '{network.config.model_type}', which has no "
                    "towers of texts and images; expected CLIP, SigLIP or another of "
                    "their kind",
                    str(folder),
                )
            check_tokenizer(folder)
            self.tokenizer = _load_part(
                transformers.AutoTokenizer, folder, "a tokenizer"
            )
            self.processor = _load_part(
                transformers.AutoImageProcessor, folder, "an image processor"
            )
        self.network = network.eval().to(device=device, dtype=weight_dtype(precision))
        text = getattr(network.config, "text_config", network.config)
        self.context = min(
            int(text.max_position_embeddings), int(self.tokenizer.model_max_length)
        )
        self.is_padded = network.config.model_type in PADDED

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts, whole, special ones included."""
        # a warning about long texts would be wrong: they are cut before they are read
        rows = self.tokenizer(
            list(texts), padding=False, truncation=False, verbose=False
        )
        return rows["input_ids"]

    def encode_ids(self, rows: Sequence[Sequence[int]]) -> Any:
        """Return the vectors of texts by their tokens, a tensor (B, d)."""
        if self.is_padded:
            batch = self.tokenizer.pad(
                {"input_ids": [list(row) for row in rows]},
                padding="max_length",
                max_length=self.context,
                return_tensors="pt",
            )
            return _pooled(
                self.network.get_text_features(batch["input_ids"].to(self.device))
            )
        batch = self.tokenizer.pad(
            {"input_ids": [list(row) for row in rows]}, return_tensors="pt"
        ).to(self.device)
        return _pooled(
            self.network.get_text_features(
                input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
            )
        )

    def pixels(self, image: Any) -> np.ndarray:
        """Return the scaled pixels of an image, float32 (3, H, W)."""
        values = self.processor(images=image, return_tensors="np")["pixel_values"]
        return np.asarray(values[0], dtype=np.float32)

    def encode_pixels(self, pixels: np.ndarray) -> Any:
        """Return the vectors of images by their pixels, a tensor (B, d)."""
        import torch

        images = torch.from_numpy(pixels).to(self.device, weight_dtype(self.precision))
        return _pooled(self.network.get_image_features(images))


def _load_part(factory: Any, folder: Path, part: str) -> Any:
    try:
        return factory.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"the folder has no {part.removeprefix('an ').removeprefix('a ')} that "
            f"transformers can load: {reason[:200]}",
            str(folder),
        ) from error


def _pooled(features: Any) -> Any:
    """Return the vectors (B, d) of an answer: a tensor, or an object that has it."""
    return getattr(features, "pooler_output", features)
