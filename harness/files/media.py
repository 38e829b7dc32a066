"""Images, videos and sound of examples: files, and cells of data sets that are read when something opens them.

``Example.media`` is a text. It names a file (relative to a folder that the adapter is given, or a path), a file of the hub
(``hf://...``), or a cell of a data set (:class:`MediaCell`). Nothing is read or decoded until :func:`open_media` or
:func:`media_file` is called with the text; both work in any process, because the text says where the cell is.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from harness.errors import HarnessError, InputError, require
from harness.files.dataset_source import DatasetSource
from harness.files.user_path import cache_folder

_SCHEME = "dataset:"
_HUB = "hf://"
_opened: dict[DatasetSource, Any] = {}
"""Data sets of which cells were read in this process: memory-mapped tables."""
_MAX_OPENED = 8
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", ".png"), (0, b"\xff\xd8\xff", ".jpg"), (0, b"GIF8", ".gif"), (8, b"WEBP", ".webp"),
    (8, b"WAVE", ".wav"), (0, b"fLaC", ".flac"), (0, b"OggS", ".ogg"), (0, b"ID3", ".mp3"), (0, b"\xff\xfb", ".mp3"),
    (4, b"ftyp", ".mp4"), (0, b"\x1aE\xdf\xa3", ".webm"), (8, b"AVI ", ".avi"), (0, b"BM", ".bmp"), (0, b"II*\0", ".tif"),
)  # fmt: skip


@dataclass(frozen=True)
class MediaCell:
    """One cell of a media column of a data set."""

    source: DatasetSource
    column: str
    row: int
    """Row in the split of the source, from 0."""
    name: str
    """File name of the content, for messages and for feature files that are found by name."""

    @property
    def text(self) -> str:
        """The cell as a text for ``Example.media``; its last part, after a slash, is the file name."""
        source = self.source
        values = {"config": source.config, "split": source.split, "revision": source.revision}
        query = {name: value for name, value in values.items() if value is not None}
        location = urlencode({**query, "column": self.column, "row": self.row})
        return f"{_SCHEME}{quote(source.path, safe='')}?{location}/{self.name.replace('/', '_')}"

    @classmethod
    def parse(cls, text: str) -> MediaCell | None:
        """Return the cell of a text; None for any other text."""
        if not text.startswith(_SCHEME):
            return None
        location, _, name = text.removeprefix(_SCHEME).rpartition("/")
        path, _, query = location.partition("?")
        values = dict(parse_qsl(query))
        if "column" not in values or not values.get("row", "").isdecimal():
            return None
        source = DatasetSource(unquote(path), values.get("config"), values.get("split"), values.get("revision"))
        return cls(source, values["column"], int(values["row"]), name)

    def read(self) -> bytes:
        """Return the encoded content; raise :class:`InputError` for a cell that the data set does not have."""
        dataset = _opened.get(self.source)
        if dataset is None:
            dataset = self.source.load()
            keep_open(self.source, dataset)
        if self.column not in dataset.column_names or self.row >= len(dataset):
            raise InputError(f"no row {self.row} of the column '{self.column}'", self.source.path)
        cell = dataset.with_format("arrow")[self.row].column(self.column)[0].as_py()
        return encoded_content(cell, f"{self.source.path}: row {self.row + 1}")


def keep_open(source: DatasetSource, dataset: Any) -> None:
    """Keep a loaded data set for the cells that are read later in this process."""
    _opened.pop(source, None)
    while len(_opened) >= _MAX_OPENED:
        _opened.pop(next(iter(_opened)))
    _opened[source] = dataset


def encoded_content(cell: Any, location: str) -> bytes:
    """Return the bytes of a media cell as the library stores it, ``{"bytes": ..., "path": ...}``.

    Raises :class:`InputError` for an empty cell, and for a path without file.
    """
    values = cell if isinstance(cell, Mapping) else {}
    if values.get("bytes") is not None:
        return bytes(values["bytes"])
    path = values.get("path")
    if not path:
        raise InputError("the media cell is empty", location)
    try:
        with open_media(str(path)) as file:
            return file.read()
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror or error})", str(path)) from error


def open_media(media: str, folder: Path | None = None) -> IO[bytes]:
    """Return the encoded content of a media name as a binary file, to be closed.

    Parameters
    ----------
    media : str
        ``Example.media``: a file name, a path, ``hf://...``, or the text of a :class:`MediaCell`.
    folder : Path, optional
        Folder of file names; a cell and a file of the hub do not need it.

    Raises
    ------
    FileNotFoundError
        No such file.
    OSError
        The file cannot be read.
    InputError
        The data set of a cell cannot be loaded, or has no such cell.
    """
    cell = MediaCell.parse(media)
    if cell is not None:
        return io.BytesIO(cell.read())
    if _HUB in media:
        fsspec = require("fsspec", extra="datasets", needed_by=f"the file {media}")
        with fsspec.open(media, "rb") as file:
            return io.BytesIO(file.read())
    return (folder / media if folder is not None else Path(media)).open("rb")


def media_file(media: str, folder: Path | None = None) -> Path:
    """Return a path for libraries that read files; the content of a cell is written to the cache once.

    Raises as :func:`open_media`; the path of a plain file name is returned without a look at the file.
    """
    if MediaCell.parse(media) is None and _HUB not in media:
        return folder / media if folder is not None else Path(media)
    with open_media(media) as file:
        return store_media(file.read(), media.rpartition("/")[2])


def store_media(content: bytes, name: str) -> Path:
    """Return the file of the cache with this content; it is written, under a name of its hash, where it is not there.

    Raises :class:`HarnessError` for a cache that cannot be written.
    """
    suffix = Path(name).suffix or suffix_of(content)
    stem = Path(name).stem or "media"
    folder = cache_folder("media") / hashlib.sha256(content).hexdigest()[:32]
    path = folder / f"{stem}{suffix}"
    if path.is_file() and path.stat().st_size == len(content):
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except OSError as error:
        raise HarnessError(
            f"the cache of media cannot be written ({error.strerror or error}): set HARNESS_CACHE to a folder with space",
            str(folder),
        ) from error
    return path


def suffix_of(content: bytes) -> str:
    """Return the usual suffix of a media format by its first bytes; empty for an unknown one.

    >>> suffix_of(b"RIFF....WAVEfmt ")
    '.wav'
    """
    return next((suffix for at, magic, suffix in _SIGNATURES if content[at : at + len(magic)] == magic), "")


def media_label(media: str, folder: Path | None = None) -> str:
    """Return a media name for messages: the path of a file, or the row of a data set."""
    cell = MediaCell.parse(media)
    if cell is not None:
        return f"{cell.source.path}: row {cell.row + 1}, {cell.column} {cell.name}"
    return str(folder / media if folder is not None and _HUB not in media else media)
