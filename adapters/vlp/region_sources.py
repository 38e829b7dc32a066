"""Where regions come from, behind one interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from harness.adapters.shared.inputs.a3ds_inputs import from_scenes
from harness.adapters.vlp.regions import RegionFiles, Regions
from harness.adapters.vlp.scenes import SceneRegions
from harness.contracts import Example
from harness.errors import HarnessError


class RegionSource(Protocol):
    """Regions by example."""

    @property
    def name(self) -> str:
        """Where they come from."""
        ...

    def files(self) -> list[Path]:
        """What they depend on (for fingerprints), beyond the name."""
        ...

    def check(self, examples: Sequence[Example]) -> None:
        """Raise :class:`InputError` where it is seen at once that there are none."""
        ...

    def read(self, example: Example) -> Regions: ...


def open_regions(features: Any, boxes: str | Path | None = None) -> RegionSource:
    """A path as :class:`RegionFiles` takes it, ``{path, boxes}``, or ``{scenes: {grid, view}}``. Raises :class:`HarnessError` for
    anything else."""
    if isinstance(features, (str, Path)):
        return RegionFiles(path=features, boxes=boxes)
    if isinstance(features, Mapping) and set(features) == {"scenes"}:
        return from_scenes(SceneRegions, features["scenes"])
    if isinstance(features, Mapping) and "path" in features and set(features) <= {"path", "boxes"}:
        return RegionFiles(**features)
    raise HarnessError(f"vlp: features is a path, {{path, boxes}}, or {{scenes: {{}}}}; found {features!r}")
