"""Content parts of a message."""

from __future__ import annotations

import base64
import io

import pytest

from harness.errors import InputError
from harness_models.openai.content import (
    frame_parts,
    image_file_part,
    image_part,
    sound_part,
    video_file_part,
)

Image = pytest.importorskip("PIL.Image")


def encoded(image, form: str) -> bytes:
    file = io.BytesIO()
    image.save(file, form)
    return file.getvalue()


def url_of(part) -> str:
    assert part["type"] == "image_url"
    return part["image_url"]["url"]


def decoded(part):
    head, _, data = url_of(part).partition(";base64,")
    assert head == "data:image/png"
    return Image.open(io.BytesIO(base64.b64decode(data)))


@pytest.mark.parametrize(
    "form, media_type",
    [("PNG", "png"), ("JPEG", "jpeg"), ("WEBP", "webp"), ("GIF", "gif")],
)
def test_usual_images_are_sent_unchanged(form, media_type):
    content = encoded(Image.new("RGB", (8, 6), (200, 10, 10)), form)
    url = url_of(image_file_part(content, "a"))
    assert url == f"data:image/{media_type};base64,{base64.b64encode(content).decode()}"


def test_other_formats_and_modes_are_converted():
    cmyk = decoded(
        image_file_part(
            encoded(Image.new("CMYK", (8, 6), (0, 255, 255, 0)), "JPEG"), "a"
        )
    )
    assert (
        cmyk.mode == "RGB"
        and cmyk.getpixel((0, 0))[0] > 200 > 60 > cmyk.getpixel((0, 0))[1]
    )
    deep = decoded(
        image_file_part(encoded(Image.new("I;16", (8, 6), 257 * 100), "PNG"), "a")
    )
    assert deep.getpixel((0, 0)) == (100, 100, 100)
    bitmap = decoded(
        image_file_part(encoded(Image.new("RGB", (8, 6), (1, 2, 3)), "BMP"), "a")
    )
    assert bitmap.getpixel((7, 5)) == (1, 2, 3)


def test_large_images_are_reduced():
    content = encoded(Image.new("RGB", (400, 200), (9, 9, 9)), "PNG")
    assert decoded(image_file_part(content, "a", max_side=100)).size == (100, 50)
    assert decoded(image_file_part(content, "a", max_side=400)).size == (400, 200)


@pytest.mark.parametrize(
    "content", [b"", b"hello", encoded(Image.effect_noise((64, 64), 50), "PNG")[:700]]
)
def test_damaged_images_are_refused(content):
    with pytest.raises(InputError, match=r"^dir/a.png: the image does not decode \("):
        image_file_part(content, "dir/a.png")


def test_huge_images_are_refused(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(InputError, match="DecompressionBombError"):
        image_file_part(encoded(Image.new("RGB", (8, 6)), "PNG"), "a")


def test_frames_sound_and_videos():
    frames = [Image.new("RGB", (40, 20), colour) for colour in ((1, 1, 1), (2, 2, 2))]
    parts = frame_parts(frames, max_side=20)
    assert [decoded(part).getpixel((0, 0)) for part in parts] == [(1, 1, 1), (2, 2, 2)]
    assert decoded(parts[0]).size == (20, 10) and frames[0].size == (40, 20)
    assert decoded(image_part(frames[0])).size == (40, 20)
    assert sound_part(b"RIFF") == {
        "type": "input_audio",
        "input_audio": {"data": "UklGRg==", "format": "wav"},
    }
    assert (
        video_file_part(b"abc", "video/mp4")["video_url"]["url"]
        == "data:video/mp4;base64,YWJj"
    )
