"""The lock of a run directory: one process writes a run at a time."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from harness.errors import HarnessError
from harness.rundir.format import LOCK


class RunLock:
    """An exclusive lock on a run directory, held until :meth:`release` or the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: BinaryIO | None = None

    def acquire(self) -> None:
        """Take the lock; raise :class:`HarnessError` when another process holds it."""
        import fcntl

        file = open(self._path, "wb")  # noqa: SIM115  (held until release)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise HarnessError(f"{self._path.parent}: another process is writing this run") from None
        self._file = file

    def release(self) -> None:
        """Release the lock and remove its file."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None
