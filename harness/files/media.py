"""Images, videos and sound of examples: files, and cells of data sets that are read
when something opens them.

``Example.media`` is a text. It names a file (relative to a folder that the adapter is
given, or a path), a file of the hub (``hf://...``), or a cell of a data set
(:class:`MediaCell`). Nothing is read or decoded until :func:`open_media` or
:func:`media_file` is called with the text; both work in any process, because the text
says where the cell is.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from harness.contracts import Example
from harness.errors import HarnessError, InputError, require
from harness.files.dataset_source import DatasetSource
from harness.files.user_path import cache_folder

_SCHEME = "dataset:"
"""Begin of the text of a cell of a data set."""
_HUB = re.compile(r"((zip|tar|gzip)://[^:]*::)*hf://")
"""Begin of the name of a file of the hub, or of a member of an archive there."""
_opened: dict[DatasetSource, Any] = {}
"""Data sets of which cells were read in this process: memory-mapped tables."""
_MAX_OPENED = 8
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", ".png"),
    (0, b"\xff\xd8\xff", ".jpg"),
    (0, b"GIF8", ".gif"),
    (8, b"WEBP", ".webp"),
    (8, b"WAVE", ".wav"),
    (0, b"fLaC", ".flac"),
    (0, b"OggS", ".ogg"),
    (0, b"ID3", ".mp3"),
    (0, b"\xff\xfb", ".mp3"),
    (4, b"ftyp", ".mp4"),
    (0, b"\x1aE\xdf\xa3", ".webm"),
    (8, b"AVI ", ".avi"),
    (0, b"BM", ".bmp"),
    (0, b"II*\0", ".tif"),
)
"""Place of the first bytes of a format, these bytes, and its usual suffix."""
_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f]")
"""Bytes that headers of media have, and no text has that begins as one of them."""
_OTHER_FORMATS = re.compile(
    rb"(?s)MM\0\*|\0\0\0\x0cjP|\xff[\x0a\xf1-\xf3\xf9\xfa]|P[56]\s|.{4}(moov|mdat|wide|free)|FLV|\0\0\x01[\xba\xb3]|G@|0&\xb2u|"
    rb".{8}AIFF|#!AMR|\.snd|caff"
)
"""Further formats: TIFF, JPEG 2000 and XL, AAC and MP3, PNM, QuickTime, FLV, MPEG,
WMV, AIFF, AMR, AU, CAF.
"""


_SYSTEM_FOLDERS = ("/proc/", "/dev/", "/sys/")
"""Folders whose files come and go without being written."""


def check_media(
    examples: Iterable[Example],
    names: Iterable[object],
    drop: Callable[[Example], None] | None = None,
) -> Iterator[Example]:
    """Yield the examples of a data set, which says by their media which files are
    opened, and often sent to a server.

    Parameters
    ----------
    examples : iterable of Example
        The examples.
    names : iterable
        Values of the parameters of the data set, and the folders of models and metrics.
        Media lie in them and beside the files among them, or in the caches of the
        harness and of the hub; values that are no path are ignored.
    drop : callable, optional
        Takes each example whose media lie elsewhere, which then has none; by default
        it is an error.

    Raises
    ------
    InputError
        For a file outside of these folders, links resolved, and for a cell of another
        data set. A relative name without a file is that of a file in the folder of an
        adapter, which :func:`media_file` checks; an absolute path without a file is a
        name alone.
    """
    texts = {name for name in names if isinstance(name, str)}
    roots = _media_roots(texts)

    def is_inside(media: str) -> bool:
        cell = MediaCell.parse(media)
        if cell is not None:
            return cell.source.path in texts
        if _HUB.match(media):
            return True
        if "\0" in media:
            return False

        # A name without a file is looked for in the folder of an adapter. A path of
        # another machine or server names no file here that could be opened.
        path = os.path.realpath(media)
        if not os.path.lexists(media) and ".." not in Path(media).parts:
            return not path.startswith(_SYSTEM_FOLDERS)
        return path.startswith(roots)

    for example in examples:
        if example.media is not None and not is_inside(example.media):
            if drop is not None:
                drop(example)
                yield replace(example, media=None)
                continue
            raise InputError(
                f"the media {media_label(example.media)} lies outside of the folders "
                "of the data set; where it belongs to the data: media_root: FOLDER",
                f"example '{example.id}'",
                value=example.media,
            )
        yield example


def _media_roots(names: Iterable[str]) -> tuple[str, ...]:
    """Return the folders in which media may lie, links resolved, each with a slash at
    its end: those among the names, those of files among them, and the caches.
    """
    folders = [
        name if os.path.isdir(name) else os.path.dirname(name) or "."
        for name in names
        if os.path.exists(name)
    ]
    for variable in ("HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE"):
        folder = os.environ.get(variable)
        if folder:
            folders.append(folder)
    folders += [str(cache_folder("media")), os.path.expanduser("~/.cache/huggingface")]
    return tuple({os.path.join(os.path.realpath(folder), "") for folder in folders})


def require_media(head: bytes, label: str) -> None:
    """Raise :class:`InputError` for a file whose first bytes are those of no image,
    video or sound.
    """
    is_media = suffix_of(head) or _OTHER_FORMATS.match(head)
    if not is_media or not _NO_TEXT.search(head[:32]):
        raise InputError("is no image, video or sound by its content", label)


@dataclass(frozen=True)
class MediaCell:
    """One cell of a media column of a data set."""

    source: DatasetSource
    column: str
    row: int
    """Row in the split of the source, from 0."""
    name: str
    """File name of the content, for messages and for feature files that are found by
    name.
    """

    @property
    def text(self) -> str:
        """The cell as a text for ``Example.media``; its last part, after a slash, is
        the file name.
        """
        source = self.source
        values = {
            "config": source.config,
            "split": source.split,
            "revision": source.revision,
        }
        query = {name: value for name, value in values.items() if value is not None}
        location = urlencode({**query, "column": self.column, "row": self.row})
        path = quote(source.path, safe="")
        return f"{_SCHEME}{path}?{location}/{self.name.replace('/', '_')}"

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
        source = DatasetSource(
            unquote(path),
            values.get("config"),
            values.get("split"),
            values.get("revision"),
        )
        return cls(source, values["column"], int(values["row"]), name)

    def read(self) -> bytes:
        """Return the encoded content; raise :class:`InputError` for a cell that the
        data set does not have.
        """
        dataset = _opened.get(self.source)
        if dataset is None:
            dataset = self.source.load()
            keep_open(self.source, dataset)
        if self.column not in dataset.column_names or self.row >= len(dataset):
            raise InputError(
                f"no row {self.row} of the column '{self.column}'", self.source.path
            )

        # As Arrow: the library would decode an image.
        cell = dataset.with_format("arrow")[self.row].column(self.column)[0].as_py()
        return encoded_content(cell, f"{self.source.path}: row {self.row + 1}")


def keep_open(source: DatasetSource, dataset: Any) -> None:
    """Keep a loaded data set for the cells that are read later in this process."""
    _opened.pop(source, None)
    while len(_opened) >= _MAX_OPENED:
        _opened.pop(next(iter(_opened)))
    _opened[source] = dataset


def encoded_content(cell: Any, location: str) -> bytes:
    """Return the bytes of a media cell as the library stores it, ``{"bytes": ...,
    "path": ...}``.

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
        raise InputError(
            f"the file cannot be read ({error.strerror or error})", str(path)
        ) from error


def open_media(media: str, folder: Path | None = None) -> IO[bytes]:
    """Return the encoded content of a media name as a binary file, to be closed.

    Parameters
    ----------
    media : str
        ``Example.media``: a file name, a path, ``hf://...``, or the text of a
        :class:`MediaCell`.
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
    if _HUB.match(media):
        fsspec = require("fsspec", extra="datasets", needed_by=f"the file {media}")
        with fsspec.open(media, "rb") as file:
            return io.BytesIO(file.read())
    file = media_file(media, folder).open("rb")
    require_media(file.peek(32), file.name)
    return file


def media_file(media: str, folder: Path | None = None) -> Path:
    """Return a path for libraries that read files; the content of a cell is written to
    the cache once.

    Raises as :func:`open_media`; the path of a plain file name is returned without a
    look at the file.
    """
    if not is_file_name(media):
        with open_media(media) as file:
            return store_media(file.read(), media.rpartition("/")[2])
    if folder is None:
        return Path(media)

    path = _join_media(folder, media)
    if os.path.isabs(media):
        return path
    target = path.resolve()
    if not target.is_relative_to(folder.resolve()):
        raise InputError(f"leads out of the folder {folder}, to {target}", str(path))
    return path


def _join_media(folder: Path, media: str) -> Path:
    """Return the file of a name below a folder; where there is none, and the name
    begins with the folder or its last parts, as ``media_root`` puts them before it, the
    folder is not joined twice.
    """
    path = folder / media
    if path.exists() or os.path.isabs(media):
        return path

    outer = folder.parts
    inner = Path(media).parts
    for count in range(min(len(outer), len(inner) - 1), 0, -1):
        if outer[-count:] == inner[:count]:
            shorter = folder.joinpath(*inner[count:])
            if shorter.exists():
                return shorter
    return path


def is_file_name(media: str) -> bool:
    """Return True for the name or path of a file; False for a cell of a data set and a
    file of the hub.
    """
    return MediaCell.parse(media) is None and not _HUB.match(media)


def store_media(content: bytes, name: str) -> Path:
    """Return the file of the cache with this content; it is written, under a name of
    its hash, where it is not there.

    Raises :class:`HarnessError` for a cache that cannot be written.
    """
    suffix = Path(name).suffix or suffix_of(content)
    stem = Path(name).stem or "media"
    folder = cache_folder("media") / hashlib.sha256(content).hexdigest()[:32]
    path = folder / f"{stem}{suffix}"
    if path.is_file() and path.read_bytes() == content:
        return path

    # Under another name first: a file of the name is whole for every other process.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise HarnessError(
            f"the cache of media cannot be written ({error.strerror or error}): "
            "set HARNESS_CACHE to a folder with space",
            str(folder),
        ) from error
    return path


def suffix_of(content: bytes) -> str:
    """Return the usual suffix of a media format by its first bytes; empty for an
    unknown one.

    >>> suffix_of(b"RIFF....WAVEfmt ")
    '.wav'
    """
    for at, magic, suffix in _SIGNATURES:
        if content[at : at + len(magic)] == magic:
            return suffix
    return ""


def media_label(media: str, folder: Path | None = None) -> str:
    """Return a media name for messages: the path of a file, or a row of a data set."""
    cell = MediaCell.parse(media)
    if cell is not None:
        return f"{cell.source.path}: row {cell.row + 1}, {cell.column} {cell.name}"
    if folder is None or _HUB.match(media):
        return media
    return str(folder / media)
