"""A commit that a kill cut off, carried out before something is written beside the
files of a run.
"""

from __future__ import annotations

from pathlib import Path

from harness.rundir.file_names import ARTIFACT_FOLDERS, MANIFEST, RUN_FILES
from harness.rundir.lock import RunLock
from harness.rundir.run_folder import RunFolder


def complete_unfinished(path: Path) -> None:
    """Carry out the unfinished commit of a run directory, under its lock; do nothing
    without a commit, or where there is no run.

    The commit removes files that are computed from a run, so that one which is written
    before it would be lost.

    Raises
    ------
    HarnessError
        Another process writes the run.
    InputError
        The commit is damaged, or the directory holds links, devices or pipes.
    OSError
        The directory cannot be written.
    """
    folder = RunFolder(path)
    if not folder.has_commit or not folder.has(MANIFEST):
        return
    folder.check(RUN_FILES, ARTIFACT_FOLDERS)
    lock = RunLock(path)
    lock.acquire()
    try:
        folder.complete()
    finally:
        lock.release()
