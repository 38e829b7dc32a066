"""Images of examples: an image that is missing or does not decode is a failure of that
example only.
"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

from harness.contracts import Example, Failure
from harness.errors import InputError
from harness.files.media import media_label, open_media

if TYPE_CHECKING:
    from PIL import Image as PilImage

COLUMN_OF_MEDIA = "columns: {media: NAME} of the data set names the column"
"""Remedy for an example without media, for the end of a message."""
_SIXTEEN_BITS = ("I", "I;16", "I;16B", "I;16L", "I;16N")
"""Modes of Pillow with values up to 65535."""


def open_picture(example: Example, folder: Path | None) -> PilImage.Image | Failure:
    """Return the image of an example in RGB, or a :class:`Failure` for a file that is
    missing, damaged or too large.

    ``Example.media`` is relative to ``folder``; without a folder it is the path itself.
    It may also be a cell of a data set (:func:`harness.files.media.open_media`).
    """
    if example.media is None:
        return Failure(f"the example names no image; {COLUMN_OF_MEDIA}")
    try:
        with open_media(example.media, folder) as file:
            return decode_picture(file, media_label(example.media, folder))
    except FileNotFoundError:
        return Failure(f"{media_label(example.media, folder)}: no such image")
    except OSError as error:
        return Failure(
            f"{media_label(example.media, folder)}: the image cannot be read "
            f"({error.strerror or error})"
        )
    except InputError as error:
        return Failure(str(error))


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
