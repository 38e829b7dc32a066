"""The check that a run may begin, or go on, in a directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from harness.errors import InputError
from harness.files.outputs import OUTPUTS
from harness.rundir.file_names import LOCK
from harness.rundir.format import JsonObject
from harness.rundir.run_folder import RunFolder
from harness.rundir.temporary_files import is_temporary

Mode = Literal["auto", "resume", "fresh", "extend"]
"""Treatment of the run that is in the directory
(:meth:`harness.rundir.rundir.RunDir.create`).
"""


def check_directory(
    folder: RunFolder,
    previous: JsonObject | None,
    manifest: Mapping[str, object],
    mode: Mode,
    *,
    waits: bool,
) -> None:
    """Raise :class:`InputError` unless the run of ``manifest`` may have the directory.

    Parameters
    ----------
    folder : RunFolder
        The directory, which need not exist.
    previous : dict, optional
        The manifest in it.
    manifest : mapping
        That of the run.
    mode : {"auto", "resume", "fresh", "extend"}
        What the run does with the one in the directory.
    waits : bool
        The run was begun beside the one in the directory, and has not ended.
    """
    path = str(folder.path)
    if folder.path.exists() and not folder.path.is_dir():
        raise InputError("is a file; expected a folder for the run", path)
    if previous is not None:
        _check_held_run(path, previous, manifest, mode, waits=waits)
        return
    if mode in ("resume", "extend"):
        raise InputError("holds no run to resume", path)

    # The manifest is the first file that a run writes: without it, files under the
    # names of a run are somebody's own.
    for name in folder.names():
        if name not in (LOCK, OUTPUTS) and not is_temporary(name):
            raise InputError(
                "is not empty and is no run directory; give another folder", path
            )


def _check_held_run(
    path: str,
    previous: JsonObject,
    manifest: Mapping[str, object],
    mode: Mode,
    *,
    waits: bool,
) -> None:
    """Raise :class:`InputError` where the directory holds another run, or another part
    of the run.
    """
    is_same = previous.get("digest") == manifest["digest"]
    if mode not in ("fresh", "extend") and not is_same and not waits:
        raise InputError(
            f"holds another run ({_describe(previous)}); "
            f"this one is {_describe(manifest)}. Give another folder, "
            "mode='extend' to keep what both share, or mode='fresh' to replace it",
            path,
        )

    # All parts of a run have its digest.
    if mode != "fresh" and is_same and previous.get("part") != manifest.get("part"):
        raise InputError(
            f"holds {_describe_part(previous)}, and this is "
            f"{_describe_part(manifest)}; give another folder, "
            "or mode='fresh' to replace it",
            path,
        )


def _describe(manifest: Mapping[str, object]) -> str:
    return f"task {manifest.get('task', '?')}, {str(manifest.get('digest', '?'))[:12]}"


def _describe_part(manifest: Mapping[str, object]) -> str:
    return f"part {manifest['part']}" if manifest.get("part") else "the whole run"
