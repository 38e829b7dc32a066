"""Common interface of region sources, and the choice between files and rendered scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from harness.contracts import Example
from harness.errors import HarnessError
from harness_models.shared.inputs.a3ds_inputs import from_scenes
from harness_models.vlp.regions import RegionFiles, Regions
from harness_models.vlp.scenes import SceneRegions


class RegionSource(Protocol):
    """Source of the regions of examples."""

    @property
    def name(self) -> str:
        """Name of the source, for error messages and fingerprints."""
        ...

    def files(self) -> list[Path]:
        """Return the files that the regions depend on, for fingerprints."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` for examples that are known to have no regions; may compute regions ahead."""
        ...

    def read(self, example: Example) -> Regions:
        """Return the regions of an example; raise :class:`InputError` if it has none."""
        ...


def open_regions(features: Any, boxes: str | Path | None = None) -> RegionSource:
    """Return the source that ``features`` specifies.

    Parameters
    ----------
    features
        Path as :class:`RegionFiles` takes it, ``{path, boxes}``, or ``{scenes: {grid, view}}`` for rendered scenes.
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
    if isinstance(features, Mapping) and "path" in features and set(features) <= {"path", "boxes"}:
        return RegionFiles(**features)
    raise HarnessError(f"vlp: features is a path, {{path, boxes}}, or {{scenes: {{}}}}; found {features!r}")
