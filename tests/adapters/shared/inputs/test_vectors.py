"""Sources of image vectors."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError
from harness_models.shared.inputs.scenes import SceneVectors
from harness_models.shared.inputs.vectors import open_vectors


def test_a_path_opens_a_feature_file(tmp_path):
    np.savez(tmp_path / "f.npz", a=np.arange(3.0))
    source = open_vectors(str(tmp_path / "f.npz"))
    assert source.row(Example("a", ("x",))).tolist() == [0, 1, 2]


def test_scenes_open_rendered_scenes():
    assert isinstance(open_vectors({"scenes": {}}), SceneVectors)


@pytest.mark.parametrize("features", [None, 3, {"scenes": {}, "more": 1}, {"views": 1}])
def test_other_values_are_refused(features):
    with pytest.raises(
        HarnessError,
        match="features is a file of vectors by example id, or {scenes: {}}; found",
    ):
        open_vectors(features)
