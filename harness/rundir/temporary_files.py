"""Files that a killed process was writing in a run directory."""

from __future__ import annotations

from harness.files.whole_folder import remove_left_overs
from harness.rundir.file_names import (
    ARTIFACT_FOLDERS,
    COMMIT,
    COMPARISONS,
    MANIFEST,
    PENDING,
    REPORT,
    RESULTS,
    SAME,
    SAMPLES,
    SHARDS,
)
from harness.rundir.run_folder import RunFolder

BESIDE = (COMPARISONS, SAME, REPORT)
"""Files that are computed from a finished run, and written without its lock."""
WRITTEN_UNDER_LOCK = (MANIFEST, RESULTS, SAMPLES, SHARDS, COMMIT)
"""Files of the directory itself that the holder of its lock alone writes."""


def is_temporary(name: str) -> bool:
    """Return True for the name of a file that is being written."""
    return name.startswith(".") and name.endswith(".tmp")


def remove_temporary_files(folder: RunFolder) -> None:
    """Remove what a killed process was writing: the holder of the lock alone writes
    these names, but for files beside a run.
    """
    # Another process may be writing a file beside the run at this moment.
    remove_left_overs(folder.path, BESIDE)

    own = tuple(f".{name}." for name in WRITTEN_UNDER_LOCK)
    for name in folder.names():
        if is_temporary(name) and name.startswith(own):
            folder.remove(name)
    for inside in ("", f"{PENDING}/"):
        for artifacts in ARTIFACT_FOLDERS:
            for name in folder.names(f"{inside}{artifacts}"):
                if is_temporary(name):
                    folder.remove(f"{inside}{artifacts}/{name}")
