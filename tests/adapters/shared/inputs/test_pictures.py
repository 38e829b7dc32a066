"""Images of examples: an image in RGB, or a failure with its reason."""

from __future__ import annotations

import pytest
from PIL import Image

from harness.contracts import Example, Failure
from harness_models.shared.inputs.pictures import open_picture


def test_an_image_is_read_in_rgb(tmp_path):
    Image.new("L", (4, 3), 7).save(tmp_path / "a.png")
    in_folder = open_picture(Example("a", ("r",), media="a.png"), tmp_path)
    by_path = open_picture(Example("a", ("r",), media=str(tmp_path / "a.png")), None)
    assert isinstance(in_folder, Image.Image) and in_folder.getpixel((0, 0)) == (
        7,
        7,
        7,
    )
    assert isinstance(by_path, Image.Image) and by_path.size == (4, 3)


@pytest.mark.parametrize(
    ("media", "reason"),
    [
        (None, "names no image"),
        ("gone.png", "gone.png: no such image"),
        ("text.png", "text.png: is no image, video or sound by its content"),
        ("short.png", "short.png: the image does not decode"),
        ("huge.png", "huge.png: the image does not decode (DecompressionBombError"),
    ],
)
def test_an_image_that_cannot_be_read_is_a_failure(
    tmp_path, monkeypatch, media, reason
):
    (tmp_path / "text.png").write_text("hello")
    Image.effect_noise((64, 64), 50).save(tmp_path / "short.png")
    (tmp_path / "short.png").write_bytes((tmp_path / "short.png").read_bytes()[:900])
    Image.new("RGB", (100, 100)).save(tmp_path / "huge.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4500)
    result = open_picture(Example("a", ("r",), media=media), tmp_path)
    assert isinstance(result, Failure)
    assert reason in result.reason
