"""Kinds of media files by their names."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Literal

Medium = Literal["image", "video", "audio"]
_MORE: dict[str, Medium] = {
    ".mkv": "video", ".webm": "video", ".avi": "video", ".m4v": "video", ".mts": "video", ".ts": "video", ".gif": "video",
    ".flac": "audio", ".ogg": "audio", ".opus": "audio", ".m4a": "audio", ".wav": "audio", ".webp": "image", ".heic": "image",
}  # fmt: skip
"""Suffixes that the tables of some systems lack or read otherwise."""


def kind_of_name(path: str | Path) -> Medium | None:
    """Return the kind of a media file by its suffix, or None for another suffix.

    >>> kind_of_name("video7010.mp4"), kind_of_name("rain.FLAC"), kind_of_name("dog.jpg"), kind_of_name("notes.txt")
    ('video', 'audio', 'image', None)
    """
    suffix = Path(path).suffix.lower()
    if suffix in _MORE:
        return _MORE[suffix]
    kind = (mimetypes.guess_type(f"x{suffix}")[0] or "").partition("/")[0]
    return kind if kind in ("image", "video", "audio") else None
