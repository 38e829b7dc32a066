"""Sources of pictures and image features of scenes: scene ids go in, arrays come out.

Pictures come from the renderer (default) or the official ``3dshapes.h5``. Features come
from EfficientNet-lite0 (default), ResNet-50 with local weights, or the authors' tensor
of ResNet-50 features, which needs no pictures. Every source has a name for the manifest
and for cache keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean
from harness.files.user_files import existing
from harness_tasks.a3ds.image_features import (
    FeatureTensor,
    ImageFeatures,
    NetworkFeatures,
)
from harness_tasks.a3ds.pictures import Rendered, ShapesFile

SOURCES: dict[str, tuple[str, ...]] = {
    "efficientnet-lite0": ("view", "weights"),
    "resnet50": ("weights",),
    "tensor": ("path", "ids"),
}
"""Source of image features -> its options."""


def images(source: str | Path | None = None) -> Rendered | ShapesFile:
    """Return the renderer (None or ``render``),
    or the pictures of a file ``3dshapes.h5``.
    """
    return Rendered() if source in (None, "render") else ShapesFile(source)


def features(
    source: str | Mapping[str, Any] = "efficientnet-lite0",
    pictures: str | Path | None = None,
) -> ImageFeatures:
    """Return a source of image features by name;
    equal arguments return the same object.

    Parameters
    ----------
    source : str or mapping, default "efficientnet-lite0"
        ``efficientnet-lite0`` or ``{efficientnet-lite0: {view: last}}``,
        ``{resnet50: {weights: FILE}}``, or ``{tensor: {path: FILE, ids: FILE}}``.
    pictures : path, optional
        Source of the pictures, as for :func:`images`.

    Raises
    ------
    InputError
        For an unknown name or option, and a missing file.
    """
    if isinstance(source, str):
        name = source
        options = {}
    else:
        name, options = next(iter(source.items()), ("", {}))

    if name not in SOURCES or (not isinstance(source, str) and len(source) != 1):
        raise InputError.of_name(
            "unknown image features",
            name,
            SOURCES,
            "expected one of",
            parameter="features",
        )

    return _features(
        name,
        json.dumps(options or {}, sort_keys=True),
        None if pictures is None else str(pictures),
    )


@cache
def _features(name: str, options_json: str, pictures: str | None) -> ImageFeatures:
    options = json.loads(options_json)
    for key in options:
        if key not in SOURCES[name]:
            raise _options_error(
                f"image features '{name}': unknown option "
                f"'{key}'{did_you_mean(key, SOURCES[name])}",
                key,
            )

    if name == "tensor":
        if "path" not in options:
            raise _options_error(
                "image features 'tensor' need the path of the stored tensor: "
                "{tensor: {path: FILE}}"
            )
        return FeatureTensor(**options)

    weights = None
    if "weights" in options:
        weights = existing(options["weights"], "file of weights", parameter="features")

    if name == "efficientnet-lite0":
        from harness_tasks.a3ds.efficientnet import WIDTHS, EfficientNetLite0

        network = EfficientNetLite0(weights, options.get("view", "middle"))
        label = f"efficientnet-lite0:{network.view}:{_digest(network.path)}"
        return NetworkFeatures(images(pictures), network, label, WIDTHS[network.view])

    if weights is None:
        raise _options_error(
            "image features 'resnet50' need local weights: {resnet50: {weights: FILE}}"
        )
    from harness_tasks.a3ds.resnet import ResNet50

    return NetworkFeatures(
        images(pictures), ResNet50(weights), f"resnet50:{_digest(weights)}", 2048
    )


def _options_error(message: str, value: object = None) -> InputError:
    return InputError(message, parameter="features", value=value)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]
