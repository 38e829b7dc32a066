"""Media files by name: their kind, and the file that a name means."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.files.media import media_file

if TYPE_CHECKING:
    pass

Medium = Literal["image", "video", "audio"]
_MORE: dict[str, Medium] = {
    ".mkv": "video",
    ".webm": "video",
    ".avi": "video",
    ".m4v": "video",
    ".mts": "video",
    ".ts": "video",
    ".gif": "video",
    ".flac": "audio",
    ".ogg": "audio",
    ".opus": "audio",
    ".m4a": "audio",
    ".wav": "audio",
    ".webp": "image",
    ".heic": "image",
}
"""Suffixes that the tables of some systems lack or read otherwise."""
SUFFIXES: dict[Medium, tuple[str, ...]] = {
    "image": (".jpg", ".jpeg", ".png", ".webp"),
    "video": (".mp4", ".webm", ".mkv", ".avi"),
    "audio": (".wav", ".flac", ".mp3", ".ogg", ".m4a"),
}
"""Suffixes that are tried for names without one, in this order."""


def kind_of_name(path: str | Path) -> Medium | None:
    """Return the kind of a media file by its suffix, or None for another suffix.

    >>> (
    ...     kind_of_name("video7010.mp4"),
    ...     kind_of_name("rain.FLAC"),
    ...     kind_of_name("dog.jpg"),
    ...     kind_of_name("notes.txt"),
    ... )
    ('video', 'audio', 'image', None)
    """
    suffix = Path(path).suffix.lower()
    if suffix in _MORE:
        return _MORE[suffix]
    kind = (mimetypes.guess_type(f"x{suffix}")[0] or "").partition("/")[0]
    return kind if kind in ("image", "video", "audio") else None


def media_path(name: str, folder: Path | None, medium: Medium) -> Path:
    """Return the path of a media file.

    A name that is no file (``video7010``,
    a YouTube id) is that of a file with a usual suffix.

    Parameters
    ----------
    name
        ``Example.media``.
    folder
        Folder of the files; None: the name is a path.
    medium
        Kind of file to look for; the path of a file that does not exist is returned as
        it is.
    """
    path = media_file(name, folder)  # of a cell of a data set: a file of the cache
    if path.is_file() or kind_of_name(path) is not None:
        return path
    candidates = (media_file(f"{name}{suffix}", folder) for suffix in SUFFIXES[medium])
    return next((candidate for candidate in candidates if candidate.is_file()), path)
