"""Choice of the source of regions."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import HarnessError
from harness_models.vlp.region_sources import open_regions
from harness_models.vlp.regions import RegionFiles
from harness_models.vlp.scene_regions import SceneRegions


def test_paths_open_files_and_scenes_open_rendered_scenes(tmp_path):
    np.savez(tmp_path / "r.npz", x=np.zeros(1))
    assert isinstance(open_regions(str(tmp_path / "r.npz")), RegionFiles)
    assert isinstance(open_regions({"path": str(tmp_path / "r.npz")}), RegionFiles)
    source = open_regions({"scenes": {"grid": 2}})
    assert isinstance(source, SceneRegions)
    assert len(source.boxes) == 5


@pytest.mark.parametrize(
    "features", [None, 7, {}, {"boxes": "b.h5"}, {"path": "p", "more": 1}]
)
def test_other_values_are_refused(features):
    with pytest.raises(
        HarnessError, match="features is a path, {path, boxes}, or {scenes: {}}; found"
    ):
        open_regions(features)
