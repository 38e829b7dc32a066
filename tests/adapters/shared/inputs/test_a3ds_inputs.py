"""Rendered scenes as inputs: which scene an example names, vectors and views of it."""

from __future__ import annotations

import numpy as np
import pytest

from harness.adapters.shared.inputs.a3ds_inputs import SceneVectors, SceneViews, from_scenes, scene_of
from harness.adapters.vlp.scenes import SceneRegions
from harness.contracts import Example
from harness.errors import HarnessError, InputError

A, B = Example("1234", ("a",)), Example("one/shape/00001", ("a",), meta={"target_id": 1234})


def test_a_scene_is_named_by_the_id_or_by_the_reader():
    assert scene_of(A) == scene_of(B) == 1234
    with pytest.raises(InputError, match="example 'img7' is not a scene"):
        scene_of(Example("img7", ("a",)))
    with pytest.raises(HarnessError, match="scene id 480000: expected a whole number from 0 to 479999"):
        scene_of(Example("480000", ("a",)))


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (SceneViews, {"frams": 2}, "scenes has no setting 'frams'; did you mean 'frames'[?]; it has frames, stride"),
        (SceneViews, {"frames": "two"}, "frames is at least 2 and stride at least 1; found 'two' and 2"),
        (SceneVectors, [1], "scenes is a mapping of settings; found"),
        (SceneRegions, {"view": "left"}, "left"),
    ],
)
def test_settings_that_do_not_fit_are_told(kind, settings, message):
    with pytest.raises(HarnessError, match=message):
        from_scenes(kind, settings)


def test_vectors_and_views_are_the_scenes():
    vectors, views = SceneVectors(), SceneViews(frames=3, stride=2)
    vectors.check([A, B])
    views.check([A, B])
    assert np.array_equal(vectors.row(A), vectors.row(B))
    found = views.read(A)
    assert found["appearance"].shape == (3, vectors.width)
    assert np.array_equal(found["appearance"][-1], vectors.row(A))  # the camera ends at the scene's own orientation
    np.testing.assert_allclose(found["motion"], np.diff(found["appearance"], axis=0))
    assert [scene % 15 for scene in views.path_of(1234)] == [8, 6, 4]
