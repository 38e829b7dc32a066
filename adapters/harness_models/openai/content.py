"""Parts of a chat message: images, frames of a video, sound, whole video files."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.encoders.pictures import decode_picture, to_rgb

if TYPE_CHECKING:
    from PIL import Image as PilImage

Part = dict[str, Any]
_SENT_AS_THEY_ARE = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
"""Formats of Pillow that servers read -> their media types."""
_PLAIN_MODES = ("RGB", "RGBA", "L", "LA", "P", "1")


def data_url(content: bytes, media_type: str) -> str:
    """Return content as a data URL.

    >>> data_url(b"abc", "audio/wav")
    'data:audio/wav;base64,YWJj'
    """
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def image_part(image: PilImage.Image) -> Part:
    """Return an image as a part, encoded as PNG (RGB, 8 bits)."""
    file = io.BytesIO()
    to_rgb(image).save(file, "PNG")
    return _image(file.getvalue(), "image/png")


def image_file_part(content: bytes, label: str, max_side: int | None = None) -> Part:
    """Return an image file as a part.

    A PNG, JPEG, WebP or GIF of 8 bits is sent unchanged. Other formats and modes (CMYK,
    16 bits), and images larger than ``max_side``, are sent as RGB images in PNG.

    Parameters
    ----------
    content : bytes
        The file.
    label : str
        Name of the image for messages.
    max_side : int, optional
        Maximum width and height in pixels; a larger image is reduced, with its
        proportions.

    Raises
    ------
    InputError
        For content that is no image, is truncated, or has too many pixels.
    """
    from PIL import Image

    decoded = decode_picture(io.BytesIO(content), label)
    with Image.open(io.BytesIO(content)) as image:
        media_type = _SENT_AS_THEY_ARE.get(image.format or "")
        plain = media_type is not None and image.mode in _PLAIN_MODES
    if max_side is not None and max(decoded.size) > max_side:
        decoded.thumbnail((max_side, max_side))
        plain = False
    return _image(content, media_type) if plain and media_type else image_part(decoded)


def _image(content: bytes, media_type: str) -> Part:
    return {"type": "image_url", "image_url": {"url": data_url(content, media_type)}}


def frame_parts(
    frames: Sequence[PilImage.Image], max_side: int | None = None
) -> list[Part]:
    """Return frames of a video as image parts, in their order; frames larger than
    ``max_side`` pixels are reduced.
    """
    images: list[Part] = []
    for frame in frames:
        if max_side is not None and max(frame.size) > max_side:
            frame = frame.copy()
            frame.thumbnail((max_side, max_side))
        images.append(image_part(frame))
    return images


def sound_part(wav: bytes) -> Part:
    """Return the bytes of a WAV file as a part."""
    return {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(wav).decode("ascii"), "format": "wav"},
    }


def video_file_part(content: bytes, media_type: str) -> Part:
    """Return a whole video file as a part ``video_url``,
    which vLLM and SGLang accept.
    """
    return {"type": "video_url", "video_url": {"url": data_url(content, media_type)}}
