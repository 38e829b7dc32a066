"""Results that are computed from a finished run, kept in a file beside its own."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.rundir.artifact_key import content_digest
from harness.rundir.format import read_object, to_json, write_atomically
from harness.rundir.run_folder import RunFolder
from harness.rundir.unfinished import complete_unfinished

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptFile:
    """Results of a run that were computed after it,
    in a file beside its own that is valid under one key.
    """

    path: Path | None
    """None: they are not kept."""
    key: str

    def read(self) -> Any:
        """Return the rows; None without a whole file of this key."""
        if self.path is None or not RunFolder(self.path.parent).has(self.path.name):
            return None

        content = read_object(RunFolder(self.path.parent), self.path.name)
        if content is None or (
            content and content.get("sha256") != content_digest(content.get("rows"))
        ):
            _log.warning("%s is damaged; its content is computed again", self.path)
            return None
        return content.get("rows") if content.get("key") == self.key else None

    def write(self, schema: int, rows: object) -> None:
        """Write the file; a directory that is read-only, or that another process
        writes, keeps none, which is logged.
        """
        if self.path is None:
            return
        content = {
            "schema": schema,
            "key": self.key,
            "sha256": content_digest(rows),
            "rows": rows,
        }
        try:
            # A commit that is carried out later would remove the file.
            complete_unfinished(self.path.parent)
            write_atomically(self.path, to_json(content))
        except (OSError, HarnessError) as error:
            _log.info("%s is not kept: %s", self.path.name, error)
