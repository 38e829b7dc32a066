"""Image features of A3DS scenes for the captioner: the scene's own factors, or what a network sees in its picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.tasks.a3ds import pixels
from harness.tasks.a3ds.scene import SIZES, indices

Source = str | Mapping[str, Any]


class OneHotFactors:
    """57 numbers a scene: each of its six factors as a one-hot vector (10 + 10 + 10 + 8 + 4 + 15)."""

    name = "factors"
    width = sum(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """(B, 57) float32."""
        values = indices(ids) + np.concatenate([[0], np.cumsum(SIZES)[:-1]])
        out = np.zeros((len(values), self.width), dtype=np.float32)
        np.put_along_axis(out, values, 1.0, axis=1)
        return out


class FactorValues:
    """6 numbers a scene: each factor's place among its values, 0 to 1."""

    name = "values"
    width = len(SIZES)

    def features(self, ids: Iterable[Any]) -> np.ndarray:
        """(B, 6) float32."""
        return (indices(ids) / (np.array(SIZES) - 1)).astype(np.float32)


_FACTORS: dict[str, type[OneHotFactors] | type[FactorValues]] = {"factors": OneHotFactors, "values": FactorValues}


def image_features(source: Source = "factors") -> pixels.ImageFeatures:
    """``factors`` (one-hot), ``values`` (six numbers), or a source of pictures' features: ``efficientnet-lite0``, ``resnet50``,
    ``tensor`` (:func:`harness.tasks.a3ds.pixels.features`). Raises :class:`HarnessError` for another name."""
    if isinstance(source, str) and source in _FACTORS:
        return _FACTORS[source]()
    return pixels.features(source)
