"""CLIP image vectors, from weights by path or by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from harness.contracts import Example, Failure
from harness.encoders.clip_weights import find_clip_weights
from harness.encoders.fingerprints import weights_fingerprint
from harness.encoders.precision import computing
from harness_models.shared.inputs.pictures import open_picture


class ClipImages:
    """Encoder of image files to CLIP vectors (d,), which are not normalised.

    Parameters
    ----------
    weights
        Weights of the model: a file of open_clip, an archive of OpenAI such as
        ``ViT-B-32.pt``, a folder of open_clip or transformers, a name on the hub, or
        with ``model`` a published tag of open_clip.
    model
        Name of the architecture in open_clip, which only plain weights and tags need.
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
        weights: str | Path,
        model: str | None = None,
        images: str | Path | None = None,
        device: str = "cpu",
    ) -> None:
        checkpoint = find_clip_weights(
            str(weights), model, subject="CLIP image features"
        )
        self.fingerprint = weights_fingerprint(checkpoint.path)
        self.folder = Path(images) if images is not None else None
        self.towers = checkpoint.load(device, "float32")

    def encode(self, examples: Sequence[Example]) -> list[torch.Tensor | Failure]:
        """Return a vector (d,), float32, per example, or a :class:`Failure` for an
        image that is missing or does not decode.
        """
        pixels = [self._pixels(example) for example in examples]
        good = {
            i: item for i, item in enumerate(pixels) if isinstance(item, np.ndarray)
        }
        out: list[Any] = list(pixels)
        if good:
            with computing("float32"):
                vectors = self.towers.encode_pixels(np.stack(list(good.values())))
            for i, vector in zip(good, vectors.float()):
                out[i] = vector
        return out

    def _pixels(self, example: Example) -> np.ndarray | Failure:
        image = open_picture(example, self.folder)
        return image if isinstance(image, Failure) else self.towers.pixels(image)
