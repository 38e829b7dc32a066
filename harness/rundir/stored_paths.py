"""Paths in the files of a run directory: relative to it, so that the directory may be moved together with its data.

``manifest.json`` lists under :data:`PATHS` which of its values are paths, with what they named
(:func:`harness.spec.path_contents.content_of`). In memory such a path is relative to the working directory, as the user gave it; absolute
ones stay as they are everywhere. A manifest without the list is of an earlier form: its paths are relative to the folder in which the run
was made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.contracts import Values
from harness.errors import InputError
from harness.files.yaml_source import Key
from harness.rundir.file_names import MANIFEST
from harness.rundir.format import JsonObject
from harness.spec.path_contents import get_value, replace_value

PATHS = "paths"
"""Key of manifest.json: ``{"at": [KEYS], "content": TEXT}`` for each path in it."""


def store_paths(content: Mapping[str, object], folder: Path) -> JsonObject:
    """Return a manifest with its relative paths relative to the run directory, which need not exist."""
    return _replace_all(content, lambda path: _to_stored(path, folder))


def resolve_paths(content: Mapping[str, object], folder: Path) -> JsonObject:
    """Return a manifest that was read from a run directory with its paths usable from the working directory.

    Raises :class:`InputError` for a list that does not fit the manifest.
    """
    return _replace_all(content, lambda path: _from_stored(path, folder))


def contents_of(content: Mapping[str, object]) -> dict[Key, str]:
    """Return key -> what the path there named when the run was begun."""
    entries = cast("Sequence[JsonObject]", content.get(PATHS) or ())
    return {tuple(cast("list[str | int]", entry["at"])): str(entry["content"]) for entry in entries}


def with_stored_contents(content: Mapping[str, object]) -> JsonObject:
    """Return a manifest with what its paths named in place of them."""
    out: JsonObject = dict(content)
    for key, text in contents_of(content).items():
        out = replace_value(out, key, text)
    return out


def store_record(record: JsonObject, manifest: Mapping[str, object], folder: Path) -> JsonObject:
    """Return the values of a result with the paths among them relative to the run directory."""
    return _replace_in_record(record, manifest, lambda path: _to_stored(path, folder))


def resolve_record(record: JsonObject, manifest: Mapping[str, object], folder: Path) -> JsonObject:
    """Return the values of a result of results.json with the paths among them usable from the working directory."""
    return _replace_in_record(record, manifest, lambda path: _from_stored(path, folder))


def _replace_all(content: Mapping[str, object], change: Callable[[str], str]) -> JsonObject:
    out: JsonObject = dict(content)
    for key in contents_of(content):
        try:
            out = replace_value(out, key, change(get_value(out, key)))
        except (KeyError, IndexError, TypeError):
            raise InputError(f"{PATHS}: {list(key)} is no text of the manifest; it is damaged: run the spec again", MANIFEST) from None
    return out


def _replace_in_record(record: JsonObject, manifest: Mapping[str, object], change: Callable[[str], str]) -> JsonObject:
    """Return a record with the paths of its model and of its metric changed; parameters that it does not have are left out."""
    out = record
    for section, label, field in (("models", "model", "model_params"), ("metrics", "metric", "params")):
        for key in contents_of(manifest):
            if key[0] != section or cast(Values, get_value(manifest, key[:2])).get("label") != record.get(label):
                continue
            try:
                value = get_value(record, (field, *key[3:]))
            except (KeyError, IndexError, TypeError):
                continue
            out = replace_value(out, (field, *key[3:]), change(value))
    return out


def _to_stored(path: str, folder: Path) -> str:
    if os.path.isabs(path) or path.startswith("~"):
        return path
    plain = os.path.normpath(path)
    # Behind a link, the folder above is not the one that stands before it in the path.
    place = plain if os.path.realpath(plain) == os.path.realpath(path) else os.path.realpath(path)
    return os.path.relpath(place, os.path.realpath(folder))


def _from_stored(path: str, folder: Path) -> str:
    if os.path.isabs(path) or path.startswith("~"):
        return path
    joined = os.path.join(folder, path)
    plain = os.path.normpath(joined)
    return plain if os.path.realpath(plain) == os.path.realpath(joined) else joined
