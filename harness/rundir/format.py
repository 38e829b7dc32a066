"""File format of the run directory: names, schema versions, JSON.

``manifest.json`` names the run; ``candidates/`` and ``scores/`` hold captions and
statistics, ``shards.json`` the size of shards; ``results.json`` and ``samples.parquet``
appear when the run is finished.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from harness.errors import InputError
from harness.files.json_text import parse_json
from harness.files.secrets import redact
from harness.files.whole_folder import remove_left_overs
from harness.rundir.file_names import MANIFEST
from harness.rundir.run_folder import RunFolder

RESULTS_SCHEMA = 1
"""Schema version of results.json."""
MANIFEST_SCHEMA = 1
"""Schema version of manifest.json."""
CHECKSUM = "checksum"
"""Key of results.json and shards.json: SHA-256 of the other values."""
JsonObject = dict[str, object]
SUITE = "suite.json"
"""File of a suite's folder: the run folders in their order,
and the sets that are not there.
"""


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name beside ``path``, flush to disk, and rename; remove what
    killed processes left under such names of it.
    """
    remove_left_overs(path.parent, {path.name})
    RunFolder(path.parent).write(path.name, data)


def to_json(value: object) -> bytes:
    """Return readable JSON: keys in the order given, null for NaN, ``"inf"`` and
    ``"-inf"`` for infinities.
    """
    text = json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode("utf-8", "backslashreplace")


def escape_surrogates(text: str) -> str:
    """Return a text as valid UTF-8: lone surrogates are escaped.

    >>> escape_surrogates("é\\ud800")
    'é\\\\ud800'
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain(value: object) -> object:
    """Return a value made of JSON types: numpy arrays as lists, sets sorted, NaN as
    None, anything else as text.

    Secrets are replaced in every text (:mod:`harness.files.secrets`).
    """
    if type(value) is str:  # by far the most
        return redact(value)
    if isinstance(value, (dict, Mapping)):
        return {
            redact(str(key)): plain(item)
            for key, item in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in cast("list[object]", value)]
    if isinstance(value, (set, frozenset)):
        items = {plain(item) for item in cast("set[object]", value)}
        return sorted(cast("set[str]", items))

    if isinstance(value, (np.ndarray, np.generic)):
        return plain(cast(Any, value).tolist())
    if isinstance(value, float) and not np.isfinite(value):
        if np.isnan(value):
            return None
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (int, float, bool)):
        return value
    return redact(str(value))


def open_run_file(path: Path) -> BinaryIO:
    """Open a file of a run directory by its path; raises as
    :meth:`harness.rundir.run_folder.RunFolder.open`.
    """
    return RunFolder(path.parent).open(path.name)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file of a run directory, 64 hex digits."""
    with open_run_file(path) as file:
        return hashlib.file_digest(cast("Any", file), "sha256").hexdigest()


def read_object(folder: RunFolder, name: str) -> JsonObject | None:
    """Return the JSON object of a file of a run directory,
    None without a readable one.
    """
    try:
        content: object = parse_json(folder.read(name))
    except (OSError, ValueError, InputError):
        return None
    return cast(JsonObject, content) if isinstance(content, dict) else None


def read_json_object(path: Path) -> JsonObject:
    """Return the JSON object of a file; raise :class:`InputError` when it holds
    anything else.
    """
    try:
        with open_run_file(path) as file:
            value = parse_json(file.read().decode("utf-8"))
    except ValueError as error:
        raise InputError(f"is not valid JSON: {error}", str(path)) from None
    if not isinstance(value, dict):
        raise InputError(
            f"expected a JSON object; found {type(value).__name__}", str(path)
        )
    return cast(JsonObject, value)


def write_suite(folder: Path, runs: Sequence[str], absent: Mapping[str, str]) -> None:
    """Write the names of the run folders of a suite,
    and task -> line of the sets that are not there.
    """
    content = {"runs": list(runs), "absent": dict(absent)}
    write_atomically(folder / SUITE, to_json(content))


def run_folders(path: str | Path) -> tuple[list[Path], list[str]]:
    """Return the run directories of a path,
    and the sets of its suite that are not there.

    A run directory stands for itself; a folder of runs for those in it: in the order of
    its suite, else by name.
    """
    folder = Path(path)
    if (folder / MANIFEST).is_file() or not folder.is_dir():
        return [folder], []

    if (folder / SUITE).is_file():
        content = read_json_object(folder / SUITE)
        runs = cast("list[str]", content.get("runs") or [])
        absent = cast("dict[str, str]", content.get("absent") or {})
        return [folder / name for name in runs], list(absent)

    inner = sorted(file.parent for file in folder.glob(f"**/{MANIFEST}"))
    return inner or [folder], []
