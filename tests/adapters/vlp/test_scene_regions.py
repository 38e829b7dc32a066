"""Regions of rendered scenes."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError
from harness_models.vlp.regions import geometry
from harness_models.vlp.scene_regions import HUES, SceneRegions, hue_shares
from harness_tasks.a3ds.render import render


def test_regions_are_windows_of_the_picture():
    source = SceneRegions(grid=3)
    result = source.read(Example("1234", ("a",)))
    assert (result.features.shape, result.geometry.shape) == ((10, 640), (10, 19))
    assert (result.features.shape[1], result.geometry.shape[1]) == source.widths
    assert source.boxes[0] == (0, 0, 64, 64)
    assert source.boxes[1:5] == [
        (0, 0, 32, 32),
        (16, 0, 48, 32),
        (32, 0, 64, 32),
        (0, 16, 32, 48),
    ]
    picture = render([1234])
    window = picture[:, 16:48, 0:32]
    np.testing.assert_allclose(
        result.features[0], source.network(picture)[0], atol=1e-3
    )
    np.testing.assert_allclose(
        result.features[4],
        source.network(window.repeat(2, 1).repeat(2, 2))[0],
        atol=1e-3,
    )
    shares = hue_shares(window)[0]
    boxes = np.array(
        [[*source.boxes[0], 0, 1], [0, 16, 32, 48, shares.argmax(), shares.max()]]
    )
    np.testing.assert_allclose(
        result.geometry[4], geometry(boxes, np.stack([shares, shares]))[1], atol=1e-6
    )


def test_many_scenes_are_the_same_as_one():
    together = SceneRegions(grid=2)
    alone = SceneRegions(grid=2)
    together.check([Example(str(scene), ("a",)) for scene in (5, 99, 480)])
    for scene in ("5", "99", "480"):
        one, two = (source.read(Example(scene, ("a",))) for source in (together, alone))
        np.testing.assert_allclose(one.features, two.features, atol=1e-3)
        assert np.array_equal(one.geometry, two.geometry)


def test_hues_are_counted():
    picture = np.zeros((1, 1, 4, 3), dtype=np.uint8)
    picture[0, 0] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 190, 200]]
    shares = hue_shares(picture)[0]
    assert shares[[0, 4, 8, HUES]].tolist() == [0.25] * 4
    assert shares.sum() == 1


def test_invalid_input_is_refused():
    with pytest.raises(
        HarnessError, match="grid is a whole number of windows from 2 to 9; found 1"
    ):
        SceneRegions(grid=1)
    with pytest.raises(HarnessError, match="is 'first'; expected middle or last"):
        SceneRegions(view="first")
