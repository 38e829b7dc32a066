"""Images of examples: an image that is missing or does not decode is a failure of that example only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.contracts import Example, Failure

if TYPE_CHECKING:
    from PIL import Image as PilImage


def open_picture(example: Example, folder: Path | None) -> PilImage.Image | Failure:
    """Return the image of an example in RGB, or a :class:`Failure` for a file that is missing, damaged or too large.

    ``Example.media`` is relative to ``folder``; without a folder it is the path itself.
    """
    from PIL import Image, UnidentifiedImageError

    if example.media is None:
        return Failure("the example names no image")
    path = folder / example.media if folder is not None else Path(example.media)
    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        return Failure(f"{path}: no such image")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        return Failure(f"{path}: the image does not decode ({type(error).__name__}: {str(error)[:80]})")
