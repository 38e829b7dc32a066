"""Images of examples: found in the folder, or a failure that says what is wrong."""

from __future__ import annotations

import pytest
from PIL import Image

from harness.adapters.shared.inputs.pictures import open_picture
from harness.contracts import Example, Failure


def test_an_image_is_read_in_rgb(tmp_path):
    Image.new("L", (4, 3), 7).save(tmp_path / "a.png")
    assert open_picture(Example("a", ("r",), media="a.png"), tmp_path).getpixel((0, 0)) == (7, 7, 7)
    assert open_picture(Example("a", ("r",), media=str(tmp_path / "a.png")), None).size == (4, 3)


@pytest.mark.parametrize(
    ("media", "reason"),
    [
        (None, "names no image"),
        ("gone.png", "gone.png: no such image"),
        ("text.png", "text.png: the image does not decode"),
        ("short.png", "short.png: the image does not decode"),
        ("huge.png", "huge.png: the image does not decode (DecompressionBombError"),
    ],
)
def test_what_cannot_be_read_is_a_failure(tmp_path, monkeypatch, media, reason):
    (tmp_path / "text.png").write_text("hello")
    Image.effect_noise((64, 64), 50).save(tmp_path / "short.png")
    (tmp_path / "short.png").write_bytes((tmp_path / "short.png").read_bytes()[:900])
    Image.new("RGB", (100, 100)).save(tmp_path / "huge.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 4500)
    found = open_picture(Example("a", ("r",), media=media), tmp_path)
    assert isinstance(found, Failure)
    assert reason in found.reason
