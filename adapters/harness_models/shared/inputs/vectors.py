"""Sources of image vectors for the ``clipcap`` adapter, other than CLIP itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness_models.shared.inputs.features import FeatureFile
from harness_models.shared.inputs.scenes import SceneVectors, from_scenes


def open_vectors(features: Any) -> FeatureFile | SceneVectors:
    """Return the source of image vectors that ``features`` specifies.

    Parameters
    ----------
    features
        Path of a file of vectors by example id, or
        ``{scenes: {source: efficientnet-lite0}}`` for rendered scenes.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if isinstance(features, (str, Path)):
        return FeatureFile(features)
    if isinstance(features, Mapping) and set(features) == {"scenes"}:
        return from_scenes(SceneVectors, features["scenes"])
    raise HarnessError(
        f"clipcap: features is a file of vectors by example id, or {{scenes: {{}}}}; "
        f"found {features!r}"
    )
