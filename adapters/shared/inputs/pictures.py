"""Images that examples name, as models read them: what is missing or does not decode is a failure of that example alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.contracts import Example, Failure


def open_picture(example: Example, folder: Path | None) -> Any | Failure:
    """The example's image in RGB, looked up in ``folder``; a :class:`Failure` naming a file that is missing, damaged or far too large."""
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
