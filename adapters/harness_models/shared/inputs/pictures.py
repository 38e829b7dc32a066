"""Images of examples: an image that is missing or does not decode is a failure of that
example only.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.contracts import Example, Failure
from harness.encoders.pictures import decode_picture
from harness.errors import InputError
from harness.files.media import media_label, open_media

if TYPE_CHECKING:
    from PIL import Image as PilImage

COLUMN_OF_MEDIA = "columns: {media: NAME} of the data set names the column"
"""Remedy for an example without media, for the end of a message."""


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
