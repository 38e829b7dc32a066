"""The content of the file of a commit: names of files that replace those of a run
directory, with their stamps, and of files that go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from harness.errors import InputError
from harness.rundir.file_names import ARTIFACT_FOLDERS, COMMITTED


class DamagedCommit(InputError):
    """A file that waits for the renames of a commit is not the one that the commit
    names.
    """


@dataclass(frozen=True)
class FileStamp:
    """Size and SHA-256 of a file that waits for a commit."""

    size: int
    sha256: str

    @classmethod
    def of(cls, data: bytes) -> FileStamp:
        """Return the stamp of a file with this content."""
        return cls(len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class Commit:
    """Content of :data:`~harness.rundir.file_names.COMMIT`."""

    moved: Mapping[str, FileStamp | None]
    """Names in :data:`~harness.rundir.file_names.PENDING` that replace those of the
    directory, with the stamps of files; None for folders, whose files have checksums of
    their own.
    """
    removed: Sequence[str] = ()
    """Names of files that are removed from the directory."""


def parse_commit(content: object) -> Commit:
    """Return the commit of a JSON value.

    Raises ValueError, TypeError or KeyError for anything that
    :meth:`harness.rundir.run_folder.RunFolder.commit` does not write.
    """
    fields = cast("dict[str, object]", content)
    moved = cast("dict[str, object]", fields["moved"])
    removed = fields["removed"]

    # A file that somebody else wrote may name anything: only files of a run count.
    names: list[object] = (
        [*moved, *cast("list[object]", removed)] if isinstance(removed, list) else [""]
    )
    is_of_a_run = set(names) <= set(COMMITTED) and len(set(names)) == len(names)
    if len(fields) != 2 or not is_of_a_run:
        raise ValueError("expected names of files of a run, each once")

    stamps: dict[str, FileStamp | None] = {}
    for name, stamp in moved.items():
        is_folder = name in ARTIFACT_FOLDERS and stamp is None
        stamps[name] = None if is_folder else FileStamp(**cast("dict[str, Any]", stamp))
    return Commit(stamps, cast("list[str]", removed))
