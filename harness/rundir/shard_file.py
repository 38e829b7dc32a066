"""The file of a run directory that holds the number of examples per shard."""

from __future__ import annotations

from dataclasses import dataclass

from harness.rundir.artifact_key import content_digest
from harness.rundir.format import CHECKSUM, JsonObject, read_object, to_json
from harness.rundir.run_folder import RunFolder


@dataclass(frozen=True)
class ShardFile:
    """One file of shards in a run directory."""

    folder: RunFolder
    name: str

    def read(self) -> JsonObject | None:
        """Return the content, whose ``size`` is a number of examples;
        None without a whole file.
        """
        content = read_object(self.folder, self.name) or {}
        checksum = content.pop(CHECKSUM, None)
        if checksum != content_digest(content):
            return None
        size = content.get("size")
        return content if isinstance(size, int) and size > 0 else None

    def write(self, size: int, **values: object) -> None:
        """Write the number of examples per shard and other values; a file that has them
        stays as it is, and a complete part complete.
        """
        content: JsonObject = {"size": size, **values}
        if not content.items() <= (self.read() or {}).items():
            self.folder.write(
                self.name, to_json({**content, CHECKSUM: content_digest(content)})
            )
