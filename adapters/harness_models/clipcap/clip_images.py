"""CLIP image vectors by open_clip, from local weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from harness.contracts import Example, Failure
from harness.errors import InputError, did_you_mean, require
from harness.files.torchscript import is_torchscript, read_openai_clip
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.inputs.pictures import open_picture


class ClipImages:
    """Encoder of image files to CLIP vectors (d,), which are not normalised.

    Parameters
    ----------
    model
        Name in open_clip, for OpenAI's weights for example ``ViT-B-32-quickgelu`` or
        ``RN50x4-quickgelu``.
    weights
        Local file of the weights; nothing is downloaded.
    images
        Folder of the images; default: ``Example.media`` is the path.
    device
        Device of torch.

    Raises
    ------
    InputError
        For an unknown name, and for weights that are missing or belong to another
        model.
    """

    def __init__(
        self,
        *,
        model: str,
        weights: str | Path,
        images: str | Path | None = None,
        device: str = "cpu",
    ) -> None:
        guard_torchvision()
        open_clip: Any = require(
            "open_clip", extra="clip", needed_by="CLIP image features"
        )

        names = open_clip.list_models()
        if model not in names:
            raise InputError(
                f"unknown CLIP model '{model}'{did_you_mean(model, names)}"
            )

        self.weights = Path(weights)
        if not self.weights.is_file():
            raise InputError(
                "no such file of CLIP weights (nothing is downloaded)",
                str(self.weights),
            )
        self.folder = Path(images) if images is not None else None
        self.device = torch.device(device)

        is_archive = is_torchscript(self.weights)
        try:
            created = open_clip.create_model_and_transforms(
                model,
                pretrained=None if is_archive else str(self.weights),
                device=device,
                weights_only=True,
            )
            if is_archive:
                quick_gelu = bool(open_clip.get_model_config(model).get("quick_gelu"))
                arrays = read_openai_clip(self.weights, model, quick_gelu, names)
                tensors = {key: torch.from_numpy(a) for key, a in arrays.items()}
                created[0].load_state_dict(tensors)
        except (RuntimeError, ValueError, KeyError) as error:
            raise InputError(
                f"no weights of {model} ({str(error).splitlines()[0]})",
                str(self.weights),
            ) from error
        self.network = created[0].eval()
        self.transform = created[2]

    def encode(self, examples: Sequence[Example]) -> list[torch.Tensor | Failure]:
        """Return a vector (d,), float32, per example, or a :class:`Failure` for an
        image that is missing or does not decode.
        """
        pixels = [self._pixels(example) for example in examples]
        good = {
            i: item for i, item in enumerate(pixels) if isinstance(item, torch.Tensor)
        }
        out: list[Any] = list(pixels)
        if good:
            batch = torch.stack(list(good.values())).to(self.device)
            with torch.inference_mode():
                vectors = self.network.encode_image(batch)
            for i, vector in zip(good, vectors.float()):
                out[i] = vector
        return out

    def _pixels(self, example: Example) -> torch.Tensor | Failure:
        image = open_picture(example, self.folder)
        return image if isinstance(image, Failure) else self.transform(image)
