"""Choice of the source of regions: files or rendered scenes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness_models.shared.inputs.scenes import from_scenes
from harness_models.vlp.regions import RegionFiles
from harness_models.vlp.scene_regions import SceneRegions


def open_regions(
    features: Any, boxes: str | Path | None = None
) -> RegionFiles | SceneRegions:
    """Return the source that ``features`` specifies.

    Parameters
    ----------
    features
        Path as :class:`RegionFiles` takes it, ``{path, boxes}``, or
        ``{scenes: {grid, view}}`` for rendered scenes.
    boxes
        h5 file of boxes, for a path.

    Raises
    ------
    HarnessError
        For any other value.
    """
    if isinstance(features, (str, Path)):
        return RegionFiles(path=features, boxes=boxes)
    if isinstance(features, Mapping) and set(features) == {"scenes"}:
        return from_scenes(SceneRegions, features["scenes"])

    if (
        isinstance(features, Mapping)
        and "path" in features
        and set(features) <= {"path", "boxes"}
    ):
        return RegionFiles(**features)
    raise HarnessError(
        f"vlp: features is a path, {{path, boxes}}, or {{scenes: {{}}}}; "
        f"found {features!r}"
    )
