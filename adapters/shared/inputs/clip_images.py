"""CLIP image vectors through open_clip, from local weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.adapters.shared.inputs.pictures import open_picture
from harness.contracts import Example, Failure
from harness.errors import InputError, did_you_mean, require
from harness.registry.torchvision_guard import guard_torchvision


class ClipImages:
    """Image files to CLIP vectors (d,), as they leave the encoder (not normalised).

    ``model`` is an open_clip name (``ViT-B-32-quickgelu``, ``RN50x4-quickgelu`` for OpenAI's weights); ``weights`` a local file.
    Raises :class:`InputError` for an unknown name or missing weights; nothing is downloaded.
    """

    def __init__(
        self, *, model: str, weights: str | Path, images: str | Path | None = None, device: str = "cpu"
    ) -> None:
        guard_torchvision()
        open_clip: Any = require("open_clip", extra="clip", needed_by="CLIP image features")
        names = open_clip.list_models()
        if model not in names:
            raise InputError(f"unknown CLIP model '{model}'{did_you_mean(model, names)}")
        self.weights = Path(weights)
        if not self.weights.is_file():
            raise InputError("no such file of CLIP weights (nothing is downloaded)", str(self.weights))
        self.folder = Path(images) if images is not None else None
        self.device = torch.device(device)
        try:
            found = open_clip.create_model_and_transforms(
                model, pretrained=str(self.weights), device=device, weights_only=True
            )
        except (RuntimeError, ValueError, KeyError) as error:
            raise InputError(f"no weights of {model} ({str(error).splitlines()[0]})", str(self.weights)) from error
        self.network, self.transform = found[0].eval(), found[2]

    def encode(self, examples: Sequence[Example]) -> list[torch.Tensor | Failure]:
        """A vector per example, or a :class:`Failure` naming the image that is missing or does not decode."""
        pixels = [self._pixels(example) for example in examples]
        good = [i for i, item in enumerate(pixels) if isinstance(item, torch.Tensor)]
        out: list[Any] = list(pixels)
        if good:
            with torch.inference_mode():
                vectors = self.network.encode_image(torch.stack([pixels[i] for i in good]).to(self.device))  # type: ignore[misc]
            for i, vector in zip(good, vectors.float()):
                out[i] = vector
        return out

    def _pixels(self, example: Example) -> torch.Tensor | Failure:
        image = open_picture(example, self.folder)
        return image if isinstance(image, Failure) else self.transform(image)
