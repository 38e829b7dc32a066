"""Paths in the manifest of a run directory: relative to it, so that the directory may
be moved together with its data.

``manifest.json`` lists under :data:`PATHS` which of its values are paths, with what
they named (:func:`harness.spec.path_contents.content_of`) and how the user gave them.
In memory such a path is usable from the working directory; absolute ones stay as they
are everywhere. A manifest without the list is of an earlier form: its paths are
relative to the folder in which the run was made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.files.yaml_source import Key
from harness.rundir.file_names import MANIFEST
from harness.rundir.format import JsonObject
from harness.spec.path_contents import get_value, replace_value

PATHS = "paths"
"""Key of manifest.json: a list of the values of :class:`StoredPath`."""


@dataclass(frozen=True)
class StoredPath:
    """One path of a manifest."""

    at: Key
    """Keys from the manifest to the path."""
    content: str
    """Identity of what the path named when the run was begun, as of
    :func:`harness.spec.path_contents.content_of`.
    """
    given: str
    """The path as the user gave it; a relative one is that of the folder in which the
    run was begun.
    """

    def to_dict(self) -> JsonObject:
        """Return the JSON object of the list."""
        return {**asdict(self), "at": list(self.at)}


def list_stored_paths(content: Mapping[str, object]) -> list[StoredPath]:
    """Return the list of a manifest; empty where all its paths are absolute.

    Raises :class:`InputError` for anything else.
    """
    entries = cast("Sequence[JsonObject]", content.get(PATHS) or ())
    paths: list[StoredPath] = []
    try:
        for entry in entries:
            at = tuple(cast("Key", entry["at"]))
            paths.append(StoredPath(at, str(entry["content"]), str(entry["given"])))
        return paths
    except (KeyError, TypeError):
        raise InputError(
            f"{PATHS}: no list of 'at', 'content' and 'given'; it is damaged: "
            "run the spec again",
            MANIFEST,
        ) from None


def contents_of(content: Mapping[str, object]) -> dict[Key, str]:
    """Return key -> what the path there named when the run was begun."""
    return {path.at: path.content for path in list_stored_paths(content)}


def store_paths(content: Mapping[str, object], folder: Path) -> JsonObject:
    """Return a manifest with its relative paths relative to the run directory,
    which need not exist.
    """
    return _replace_all(content, lambda value, given: _to_stored(value, folder))


def resolve_paths(content: Mapping[str, object], folder: Path) -> JsonObject:
    """Return a manifest that was read from a run directory with its paths usable from
    the working directory.

    A path that leads nowhere from the run directory, which was copied without its data,
    is the one that the user gave.

    Raises :class:`InputError` for a list that does not fit the manifest.
    """
    return _replace_all(
        content, lambda value, given: _from_stored(value, given, folder)
    )


def with_stored_contents(content: Mapping[str, object]) -> JsonObject:
    """Return a manifest with what its paths named in place of them,
    and without the list.
    """
    out: JsonObject = {name: value for name, value in content.items() if name != PATHS}
    for path in list_stored_paths(content):
        out = replace_value(out, path.at, path.content)
    return out


def _replace_all(
    content: Mapping[str, object], change: Callable[[str, str], str]
) -> JsonObject:
    out: JsonObject = dict(content)
    for path in list_stored_paths(content):
        try:
            value = change(get_value(out, path.at), path.given)
            out = replace_value(out, path.at, value)
        except (KeyError, IndexError, TypeError):
            raise InputError(
                f"{PATHS}: {list(path.at)} is no text of the manifest; "
                "it is damaged: run the spec again",
                MANIFEST,
            ) from None
    return out


def _to_stored(path: str, folder: Path) -> str:
    if os.path.isabs(path) or path.startswith("~"):
        return path
    plain = os.path.normpath(path)
    real = os.path.realpath(path)
    # Behind a link, the folder above is not the one that stands before it in the path.
    place = plain if os.path.realpath(plain) == real else real
    return os.path.relpath(place, os.path.realpath(folder))


def _from_stored(path: str, given: str, folder: Path) -> str:
    if os.path.isabs(path) or path.startswith("~"):
        return path
    joined = os.path.join(folder, path)
    place = os.path.realpath(joined)
    # The words of the user are shown where they lead to the same place.
    if not os.path.exists(place) or os.path.realpath(given) == place:
        return given

    plain = os.path.normpath(joined)
    return plain if os.path.realpath(plain) == place else joined
