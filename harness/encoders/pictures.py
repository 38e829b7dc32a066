"""Content of image files as Pillow images in RGB."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from harness.errors import InputError

if TYPE_CHECKING:
    from PIL import Image as PilImage

_SIXTEEN_BITS = ("I", "I;16", "I;16B", "I;16L", "I;16N")
"""Modes of Pillow with values up to 65535."""


def decode_picture(file: IO[bytes], label: str) -> PilImage.Image:
    """Return an image in RGB: CMYK, palette and grey images are converted,
    values of 16 bits scaled to 8.

    Raises :class:`InputError` with ``label`` for content that is no image, is
    truncated, or has too many pixels.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as image:
            return to_rgb(image)
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        ValueError,
        SyntaxError,
    ) as error:
        reason = str(error).partition("<_io")[0].strip(" '<")[:80]
        raise InputError(
            f"the image does not decode ({type(error).__name__}: {reason})", label
        ) from error


def to_rgb(image: PilImage.Image) -> PilImage.Image:
    """Return an image in RGB; values of 16 bits are divided by 257,
    where Pillow would cut them at 255.
    """
    if image.mode in _SIXTEEN_BITS:
        return (
            image.point(lambda value: value * (1 / 257), "F")
            .convert("L")
            .convert("RGB")
        )
    return image.convert("RGB")
