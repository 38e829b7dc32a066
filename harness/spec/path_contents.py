"""Contents that the paths of a spec name, as parts of the identity of a run: the
content of a file counts, not where it lies or how it is named.

A file is a hash of its bytes; of one above :data:`WHOLE_BYTES`, size, beginning and
end, since the component that reads it has a fingerprint or a signature of the rest. A
folder is the names and sizes of the media and arrays in it: texts beside them, such as
a spec and the runs of it, may come and go. A path that names nothing (a data set of a
hub, a table that ships with a metric) is its text.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from harness.contracts import Parameters, Values
from harness.files.user_path import user_path
from harness.files.yaml_source import Key, Located, YamlValue
from harness.spec.path_parameters import SECTIONS, is_path

WHOLE_BYTES = 1 << 26
"""Size up to which all bytes of a file are hashed."""
_END_BYTES = 1 << 20
"""Bytes at the beginning, and at the end, of a larger file that are hashed."""
_MANIFEST = "manifest.json"
"""File of a run directory, whose arrays are no data of a run."""
_CONTENT_SUFFIXES = frozenset(
    {
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".webp",
        ".bmp",
        ".tif",
        ".tiff",
        ".mp4",
        ".webm",
        ".mkv",
        ".avi",
        ".mov",
        ".wav",
        ".flac",
        ".ogg",
        ".mp3",
        ".m4a",
        ".npy",
        ".npz",
        ".h5",
        ".hdf5",
        ".pkl",
        ".mat",
        ".bin",
        ".pt",
        ".pth",
        ".safetensors",
        ".arrow",
        ".tar",
        ".zip",
        ".tsv",
        ".lmdb",
        ".mdb",
    }
)
"""Endings of the files by which folders are told apart."""


def list_paths(data: Parameters) -> list[Key]:
    """Return the keys of the path parameters of a spec whose values name a file or
    folder, in the order of the spec.

    Parameters
    ----------
    data : mapping
        The spec, its path parameters resolved.
    """
    # The walk goes from the last value to the first.
    values = reversed(list(Located(cast(YamlValue, data)).walk()))
    return [
        key
        for key, value in values
        if isinstance(value, str) and is_path(data, key) and is_named(value)
    ]


def is_named(value: object) -> bool:
    """Return True for a text that names a file or folder."""
    if not isinstance(value, str) or not value or "\0" in value:
        return False
    return os.path.exists(user_path(value))


def with_contents(data: Parameters) -> Values:
    """Return a spec with what its path parameters name in place of the paths."""
    out: Values = dict(data)
    for key in list_paths(data):
        out = replace_value(out, key, content_of(get_value(data, key)))
    return out


def component_with_contents(kind: str, name: str, params: Parameters) -> Values:
    """Return the parameters of a component of a kind (``adapters``, ``metrics``), with
    what they name in place of paths.
    """
    section = SECTIONS[kind]
    return with_contents({section: [{name: dict(params)}]})[section][0][name]


def get_value(data: Any, key: Key) -> Any:
    """Return the value at a key; raises KeyError, IndexError or TypeError where there
    is none.
    """
    for step in key:
        data = data[step]
    return data


def replace_value(data: Any, key: Key, value: object) -> Any:
    """Return nested mappings and lists with another value at a key; raises as
    :func:`get_value`.
    """
    if not key:
        return value
    inner = replace_value(data[key[0]], key[1:], value)
    if isinstance(data, list):
        items = cast("list[object]", data)
        return [inner if index == key[0] else item for index, item in enumerate(items)]
    return {**data, key[0]: inner}


def content_of(path: str) -> str:
    """Return a text that is equal for files and folders of one content."""
    target = user_path(path)
    if target.is_dir():
        digest = hashlib.sha256()
        for name, size in sorted(_list_contents(target)):
            digest.update(os.fsencode(f"{name}\0{size}\0"))
        return f"folder:{digest.hexdigest()[:32]}"
    if not target.is_file():
        # A pipe, which can be read once.
        return path

    state = os.stat(target)
    content = _hash_file(os.path.realpath(target), state.st_size, state.st_mtime_ns)
    # The ending chooses how some readers read a file.
    suffixes = target.suffixes[-2:] if target.suffix == ".gz" else target.suffixes[-1:]
    return f"file:{content}{''.join(suffixes).lower()}"


@functools.lru_cache(maxsize=1024)
def _hash_file(path: str, size: int, time_ns: int) -> str:
    """Return a hash of a file, which is read once while its size and time stay."""
    with open(path, "rb") as file:
        if size <= WHOLE_BYTES:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]
        digest = hashlib.sha256(f"{size}".encode())
        digest.update(file.read(_END_BYTES))
        file.seek(-_END_BYTES, os.SEEK_END)
        digest.update(file.read(_END_BYTES))
        return digest.hexdigest()[:32]


def _list_contents(folder: Path, below: str = "") -> Iterator[tuple[str, int]]:
    """Yield name and size of the media and arrays in a folder, without run directories,
    links to folders and what begins with a dot.
    """
    with os.scandir(folder) as entries:
        present = list(entries)
    # A run directory is no data, but the folder itself may be one.
    if below and any(entry.name == _MANIFEST for entry in present):
        return
    for entry in present:
        name = f"{below}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _list_contents(Path(entry.path), f"{name}/")
            continue
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in _CONTENT_SUFFIXES and entry.is_file():
            yield name, entry.stat().st_size
