"""Image features of A3DS scenes for the captioner: the factors of the scene, or network
features of its picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.image_features import ImageFeatures
from harness_tasks.a3ds.scene import SIZES, indices

Source = str | Mapping[str, Any]
"""Name of a source, or a mapping of a name to its settings."""


class OneHotFactors:
    """One-hot vectors of the six factors: 10 + 10 + 10 + 8 + 4 + 15 = 57 numbers."""

    name = "factors"
    width = sum(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features (B, 57) float32 of scene ids (B,)."""
        values = indices(ids) + np.concatenate([[0], np.cumsum(SIZES)[:-1]])
        out = np.zeros((len(values), self.width), dtype=np.float32)
        np.put_along_axis(out, values, 1.0, axis=1)
        return out


class FactorValues:
    """Values of the six factors, each scaled to [0, 1]."""

    name = "values"
    width = len(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the features (B, 6) float32 of scene ids (B,)."""
        return (indices(ids) / (np.array(SIZES) - 1)).astype(np.float32)


_FACTORS: dict[str, type[OneHotFactors] | type[FactorValues]] = {
    "factors": OneHotFactors,
    "values": FactorValues,
}


def image_features(source: Source = "factors") -> ImageFeatures:
    """Return the source of image features.

    Parameters
    ----------
    source
        ``factors`` (one-hot), ``values`` (six numbers), or a source of picture
        features: ``efficientnet-lite0``, ``resnet50`` or ``tensor``
        (:func:`harness_tasks.a3ds.pixels.features`).

    Raises
    ------
    HarnessError
        For another name.

    Examples
    --------
    >>> image_features("values").features([0, 479_999]).tolist()
    [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """
    if isinstance(source, str) and source in _FACTORS:
        return _FACTORS[source]()
    return pixels.features(source)
