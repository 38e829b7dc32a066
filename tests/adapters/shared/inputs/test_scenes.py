"""Rendered scenes as inputs and as training data."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.scenes import (
    SceneVectors,
    SceneViews,
    from_scenes,
    scene_of,
    scene_pairs,
)
from harness_models.vlp.scene_regions import SceneRegions

A = Example("1234", ("a",))
B = Example("one/shape/00001", ("a",), meta={"target_id": 1234})


def test_the_id_or_the_reader_names_the_scene():
    assert scene_of(A) == scene_of(B) == 1234
    with pytest.raises(InputError, match="example 'img7' is not a scene"):
        scene_of(Example("img7", ("a",)))
    with pytest.raises(
        HarnessError, match="scene id 480000; expected a whole number from 0 to 479999"
    ):
        scene_of(Example("480000", ("a",)))


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (
            SceneViews,
            {"frams": 2},
            "scenes has no setting 'frams'; did you mean 'frames'[?]; it has frames, "
            "stride",
        ),
        (
            SceneViews,
            {"frames": "two"},
            "frames is at least 2 and stride at least 1; found 'two' and 2",
        ),
        (SceneVectors, [1], "scenes is a mapping of settings; found"),
        (SceneRegions, {"view": "left"}, "left"),
    ],
)
def test_settings_that_do_not_fit_are_refused(kind, settings, message):
    with pytest.raises(HarnessError, match=message):
        from_scenes(kind, settings)


def test_vectors_and_views_belong_to_the_scene():
    vectors = SceneVectors()
    views = SceneViews(frames=3, stride=2)
    vectors.check([A, B])
    views.check([A, B])
    assert np.array_equal(vectors.row(A), vectors.row(B))
    arrays = views.read(A)
    assert arrays["appearance"].shape == (3, vectors.width)
    # the camera ends at the orientation of the scene
    assert np.array_equal(arrays["appearance"][-1], vectors.row(A))
    np.testing.assert_allclose(arrays["motion"], np.diff(arrays["appearance"], axis=0))
    assert [scene % 15 for scene in views.path_of(1234)] == [8, 6, 4]


@pytest.mark.parametrize(
    ("scene", "orientations"),
    [(15, [4, 2, 0]), (29, [10, 12, 14]), (22, [11, 9, 7]), (23, [4, 6, 8])],
)
def test_the_camera_comes_from_the_side_with_more_orientations(scene, orientations):
    path = SceneViews(frames=3, stride=2).path_of(scene)
    assert [frame % 15 for frame in path] == orientations
    assert path[-1] == scene


def test_pairs_of_scenes_are_distinct_and_reproducible():
    pairs = scene_pairs(5, 3, seed=4)
    assert pairs == scene_pairs(5, 3, seed=4) != scene_pairs(5, 3, seed=5)
    assert len(set(pairs)) == 15 and len({scene for scene, _ in pairs}) == 5
