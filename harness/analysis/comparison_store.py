"""Comparisons of the systems of a run, kept in ``comparisons.json`` beside its results."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from harness import __version__
from harness.analysis.comparisons import Comparison
from harness.contracts import Values
from harness.errors import InputError
from harness.run.finished import Run
from harness.rundir.artifacts import content_digest
from harness.rundir.format import COMPARISONS, read_json_object, to_json, write_atomically

SCHEMA = 5
"""Schema version of comparisons.json."""
SECONDS = 20.0
"""Time between two writes of the file."""
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class StoredComparisons:
    """Rows of comparisons by name, valid for the statistics, draws and seed under which they were computed."""

    path: Path | None
    """The file; None for comparisons that are not kept."""
    key: str
    rows: dict[str, Comparison] = field(default_factory=dict[str, Comparison])

    @classmethod
    def of(cls, runs: Sequence[Run], draws: int, seed: int, equalise: bool = False) -> StoredComparisons:
        """Return the stored comparisons of a run, without rows for two different runs or a run in memory.

        Rows under another key, and a file that is damaged, are left out and replaced by :meth:`adding`.
        """
        paths = {run.path for run in runs}
        (path,) = paths if len(paths) == 1 else (None,)
        key = content_digest([__version__, SCHEMA, draws, seed, equalise, [_identity(run) for run in runs[:1]]])
        store = cls(None if path is None else path / COMPARISONS, key)
        store.rows.update(store._read())
        return store

    def _read(self) -> dict[str, Comparison]:
        if self.path is None or not self.path.is_file():
            return {}
        try:
            content = read_json_object(self.path)
            rows = cast("dict[str, Values]", content["rows"])
            valid = content["key"] == self.key and content["sha256"] == content_digest(rows)
        except (InputError, KeyError, OSError):
            _log.warning("%s is damaged; the comparisons are computed again", self.path)
            return {}
        return {name: Comparison(**row) for name, row in rows.items()} if valid else {}

    @contextmanager
    def adding(self) -> Generator[Callable[[str, Comparison], None]]:
        """Yield ``add(name, row)``; rows are written every :data:`SECONDS`, and at the end, also of an interrupted computation."""
        written = time.monotonic()

        def add(name: str, row: Comparison) -> None:
            nonlocal written
            self.rows[name] = row
            if time.monotonic() - written > SECONDS:
                self._write()
                written = time.monotonic()

        try:
            yield add
        finally:
            self._write()

    def _write(self) -> None:
        """Write the file; a directory that is read-only keeps no rows, which is logged."""
        if self.path is None:
            return
        rows = {name: row.to_dict() for name, row in self.rows.items()}
        content = {"schema": SCHEMA, "key": self.key, "sha256": content_digest(rows), "rows": rows}
        try:
            write_atomically(self.path, to_json(content))
        except OSError as error:
            _log.info("comparisons are not kept: %s", error)


def _identity(run: Run) -> object:
    """Return the statistics that the rows depend on."""
    return [
        [r.metric, r.model, dict(r.decoding), r.statistics, r.higher_is_better, r.sizes, r.value] for r in run.records
    ]
