"""Comparisons of the systems of a run, which ``comparisons.json`` keeps beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from harness import __version__
from harness.analysis.comparisons import Comparison
from harness.contracts import Values
from harness.run.finished import Run
from harness.rundir.artifact_key import content_digest
from harness.rundir.file_names import COMPARISONS
from harness.rundir.kept_file import KeptFile

SCHEMA = 6
"""Schema version of comparisons.json."""
SECONDS = 20.0
"""Time between two writes of the file."""


@dataclass(eq=False)
class StoredComparisons:
    """Rows of comparisons by name, valid for the statistics,
    draws and seed under which they were computed.
    """

    file: KeptFile
    rows: dict[str, Comparison] = field(default_factory=dict[str, Comparison])

    @classmethod
    def of(cls, runs: Sequence[Run], draws: int, seed: int) -> StoredComparisons:
        """Return the stored comparisons of a run,
        without rows for two different runs or a run in memory.

        Rows under another key, and a file that is damaged, are left out and replaced by
        :meth:`adding`.
        """
        paths = {run.path for run in runs}
        (path,) = paths if len(paths) == 1 else (None,)
        key = content_digest(
            [__version__, SCHEMA, draws, seed, [_identity(run) for run in runs[:1]]]
        )
        file = KeptFile(None if path is None else path / COMPARISONS, key)
        rows = cast("dict[str, Values]", file.read() or {})
        return cls(file, {name: Comparison(**row) for name, row in rows.items()})

    @contextmanager
    def adding(self) -> Generator[Callable[[str, Comparison], None]]:
        """Yield ``add(name, row)``; rows are written every :data:`SECONDS`, and at the
        end, also of an interrupted computation.
        """
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
        self.file.write(
            SCHEMA, {name: row.to_dict() for name, row in self.rows.items()}
        )


def _identity(run: Run) -> object:
    """Return the statistics that the rows depend on."""
    return [
        [
            record.metric,
            record.model,
            dict(record.decoding),
            record.statistics,
            record.higher_is_better,
            record.sizes,
            record.value,
        ]
        for record in run.records
    ]
