"""Content of image files in RGB."""

from __future__ import annotations

import io

import numpy as np
import pytest

from harness.encoders.pictures import decode_picture
from harness.errors import InputError

Image = pytest.importorskip("PIL.Image")


def content(image, form="PNG"):
    file = io.BytesIO()
    image.save(file, form)
    file.seek(0)
    return file


def test_values_of_sixteen_bits_are_scaled_and_not_cut():
    values = np.array([[0, 257 * 100, 65535]], dtype=np.uint16)
    picture = decode_picture(content(Image.fromarray(values)), "a.png")
    assert np.asarray(picture)[0, :, 0].tolist() == [0, 100, 255]


@pytest.mark.parametrize("mode", ["L", "P", "CMYK", "RGBA"])
def test_other_modes_become_rgb(mode):
    form = "TIFF" if mode == "CMYK" else "PNG"
    image = Image.new(mode, (3, 2))
    assert decode_picture(content(image, form), "a").mode == "RGB"


def test_content_that_is_no_image_is_one_line():
    with pytest.raises(InputError, match="a.png: the image does not decode"):
        decode_picture(io.BytesIO(b"no image"), "a.png")
