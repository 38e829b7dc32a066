"""Folders of several runs: the run directories below a path, and the file of a suite of judgment sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.rundir.format import MANIFEST, read_json_object, to_json, write_atomically

SUITE = "suite.json"
"""File of a suite's folder: the run folders in their order, and the sets that are not there."""


def write_suite(folder: Path, runs: Sequence[str], absent: Mapping[str, str]) -> None:
    """Write the names of the run folders of a suite, and task -> line of the sets that are not there."""
    write_atomically(folder / SUITE, to_json({"runs": list(runs), "absent": dict(absent)}))


def run_folders(path: str | Path) -> tuple[list[Path], list[str]]:
    """Return the run directories of a path, and the sets of its suite that are not there.

    A run directory stands for itself; a folder of runs for those in it: in the order of its suite, else by name.
    """
    folder = Path(path)
    if (folder / MANIFEST).is_file() or not folder.is_dir():
        return [folder], []
    if (folder / SUITE).is_file():
        content = read_json_object(folder / SUITE)
        absent = cast("dict[str, str]", content.get("absent") or {})
        return [folder / name for name in cast("list[str]", content.get("runs") or [])], list(absent)
    inner = sorted(file.parent for file in folder.glob(f"**/{MANIFEST}"))
    return inner or [folder], []
