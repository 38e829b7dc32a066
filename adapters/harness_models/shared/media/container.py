"""Media files opened by PyAV, with one-line messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import InputError, require
from harness.files.media import require_media

if TYPE_CHECKING:
    pass

Source = str | Path | bytes
"""A file, or its content."""


def name_of(source: Source) -> str:
    """Return the name of a source for messages."""
    return f"{len(source)} bytes" if isinstance(source, bytes) else str(source)


@contextmanager
def open_container(source: Source, noun: str) -> Iterator[Any]:
    """Open a media file as a container of PyAV;
    FFmpeg's log is silent and its errors become messages.

    Parameters
    ----------
    source
        File or its content.
    noun
        ``video`` or ``sound``, for messages.

    Raises
    ------
    InputError
        For a file that is missing, or that FFmpeg does not open or decode.
    MissingExtra
        If PyAV is not installed.
    """
    av: Any = require("av", extra="media", needed_by=f"reading a {noun} file")
    name = name_of(source)
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise InputError(f"no such {noun}", name)

    is_content = isinstance(source, bytes)
    with BytesIO(source) if is_content else Path(source).open("rb") as file:
        # FFmpeg opens lists of other files and addresses too
        require_media(file.read(32), name)

    try:
        with av.open(BytesIO(source) if is_content else str(source)) as container:
            yield container
    except (av.FFmpegError, OSError, ValueError, UnicodeDecodeError) as error:
        message = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"the {noun} does not decode ({message[:120]})", name
        ) from error
