"""ResNet-50 up to its global average pool, from a local file of weights in
torchvision's naming (He et al. 2016).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError

_BLOCKS = (3, 4, 6, 3)
_RESNET_EPS = 1e-5


class ResNet50:
    """Image features of ResNet-50: pictures ``(B, 64, 64, 3)`` uint8 -> ``(B,
    2048)`` float32.

    Pictures are enlarged to 256 pixels, cut to the central 224 and normalised as for
    ImageNet; the authors' loader crops at random.

    Parameters
    ----------
    weights : Path
        State dict of torchvision's ResNet-50, read without unpickling code.

    Raises
    ------
    InputError
        When the file holds no state dict or lacks a weight.

    References
    ----------
    He et al., "Deep Residual Learning for Image Recognition" (2016).
    """

    def __init__(self, weights: Path) -> None:
        import torch

        state = torch.load(weights, map_location="cpu", weights_only=True)
        if not isinstance(state, dict):
            raise InputError(
                f"holds a {type(state).__name__}, expected a state dict of ResNet-50",
                str(weights),
            )

        # A forward pass finds a key that is missing.
        self._state = state
        try:
            self._network(torch.zeros(1, 3, 32, 32))
        except KeyError as error:
            raise InputError(
                f"no weights of ResNet-50: the key {error} is missing", str(weights)
            ) from None

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """Return the features ``(B, 2048)`` of pictures ``(B, H, W, 3)``."""
        import torch
        from torch.nn import functional

        with torch.inference_mode():
            x = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255
            x = functional.interpolate(x, size=256, mode="bilinear", antialias=True)
            x = x[:, :, 16:240, 16:240]

            mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
            deviation = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
            return self._network((x - mean) / deviation).numpy()

    def _network(self, x: Any) -> Any:
        """Return the last map averaged over space, ``(B, 2048)``, of normalised
        pictures ``(B, 3, H, W)``.
        """
        from torch.nn import functional

        x = functional.max_pool2d(self._step("conv1", "bn1", x, 2).relu(), 3, 2, 1)
        for layer, blocks in enumerate(_BLOCKS, start=1):
            for block in range(blocks):
                name = f"layer{layer}.{block}."
                stride = 2 if layer > 1 and block == 0 else 1
                y = self._step(f"{name}conv1", f"{name}bn1", x, 1).relu()
                y = self._step(f"{name}conv2", f"{name}bn2", y, stride).relu()
                y = self._step(f"{name}conv3", f"{name}bn3", y, 1)

                # The first block of a layer changes width or resolution, so that its
                # shortcut has a convolution too.
                if block == 0:
                    x = self._step(
                        f"{name}downsample.0", f"{name}downsample.1", x, stride
                    )
                x = (x + y).relu()
        return x.mean((2, 3))

    def _step(self, conv: str, norm: str, x: Any, stride: int) -> Any:
        """Return convolution and batch normalisation of ``x`` with the stored
        statistics.
        """
        from torch.nn import functional

        weight = self._state[f"{conv}.weight"]
        state = self._state
        x = functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        return functional.batch_norm(
            x,
            state[f"{norm}.running_mean"],
            state[f"{norm}.running_var"],
            state[f"{norm}.weight"],
            state[f"{norm}.bias"],
            eps=_RESNET_EPS,
        )
