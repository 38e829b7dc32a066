"""The renderer: deterministic, and every factor changes the picture."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds.render import render
from harness_tasks.a3ds.scene import FACTORS, factors, scene_id

BASE = {
    "floor_hue": 0,
    "wall_hue": 5,
    "object_hue": 2,
    "scale": 4,
    "shape": 2,
    "orientation": 7,
}


def picture(**change):
    return render([scene_id(BASE | change)])[0].astype(int)


def test_shape_type_and_determinism():
    ids = [0, 479_999, 12_345, 0]
    pictures = render(ids)
    assert (pictures.shape, pictures.dtype) == ((4, 64, 64, 3), np.uint8)
    assert (pictures == render(np.array(ids))).all()
    assert (pictures[0] == pictures[3]).all()
    # independent of the rest of the batch
    assert (render([12_345])[0] == pictures[2]).all()
    assert render([]).shape == (0, 64, 64, 3)


def test_hues_of_floor_wall_and_object():
    pixels = picture()
    red = pixels[60, 5]
    cyan = pixels[5, 32]
    yellow = pixels[30, 28]
    assert red[0] > 200
    assert red[1:].max() < 60
    assert cyan[0] < 60
    assert cyan[1:].min() > 200
    assert yellow[2] < yellow[:2].min()


@pytest.mark.parametrize("name", FACTORS)
def test_every_factor_changes_the_picture(name):
    other = (factors(scene_id(BASE))[name] + 1) % 4
    assert np.abs(picture() - picture(**{name: other})).max() > 20


def test_size_and_side_of_the_corner():
    def object_pixels(**change):
        seen = picture(floor_hue=0, wall_hue=0, object_hue=5, **change)
        return int((seen[..., 2] > seen[..., 0]).sum())

    assert object_pixels(scale=0) < object_pixels(scale=4) < object_pixels(scale=7)
    # the side wall is darker than the back wall, and on the right at -30 degrees
    wall = picture(orientation=0)[4, :, 1]
    mirrored = picture(orientation=14)[4, :, 1]
    assert wall[:30].mean() != pytest.approx(wall[50:].mean(), abs=3)
    assert mirrored[:14].mean() < mirrored[30:].mean()


def test_bad_ids():
    with pytest.raises(InputError, match="from 0 to 479999"):
        render([480_000])
