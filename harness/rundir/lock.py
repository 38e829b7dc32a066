"""The lock of a run directory: one process writes a run at a time.

The lock is ``flock`` on the file ``.lock``, which the system releases when the process
ends, however it ends. The file also names its owner (host, boot id, process), for
messages and for file systems without ``flock``: there the file itself is the lock, and
it counts as stale when its process, or the boot of its host, is over.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import cast

from harness.contracts import Values
from harness.errors import HarnessError
from harness.files.json_text import parse_json
from harness.rundir.file_names import LOCK
from harness.rundir.run_folder import RunFolder

_UNSUPPORTED = {
    errno.ENOLCK,
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
}
"""Errors of ``flock`` on a file system that has none."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Owner:
    """A process that holds a lock."""

    host: str
    boot: str
    """Identifier of the host's boot; empty where the system has none."""
    pid: int

    @classmethod
    def this(cls) -> Owner:
        """Return this process."""
        boot = _BOOT_ID.read_text().strip() if _BOOT_ID.is_file() else ""
        return cls(platform.node(), boot, os.getpid())

    @classmethod
    def read(cls, folder: RunFolder) -> Owner | None:
        """Return the owner that the lock file of a directory names,
        or None where it names none.
        """
        try:
            values = cast("Values", parse_json(folder.read(LOCK)[:4096]))
            return cls(str(values["host"]), str(values["boot"]), int(values["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def is_gone(self) -> bool:
        """Return True when the process has certainly ended;
        a process of another host never counts as ended.
        """
        here = Owner.this()
        if self.host != here.host:
            return False
        # Another boot of this host: no process of it is left.
        if self.boot != here.boot:
            return True

        # Signal 0 does nothing but tell whether the process is there.
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:
            return False
        return False

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class RunLock:
    """An exclusive lock on a run directory, held until :meth:`release`, the end of the
    object or the end of the process.

    A KeyboardInterrupt may arrive between any two instructions. The lock is a file
    object, so that it ends with the frames that hold it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = RunFolder(folder)
        self._file: FileIO | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises
        ------
        HarnessError
            Another process holds it.
        OSError
            The folder does not exist or cannot be written.
        """
        while self._file is None:
            file = self._folder.lock_file(LOCK)
            try:
                self._file = self._lock_file(file)
            finally:
                if self._file is None:
                    file.close()

        owner = json.dumps(asdict(Owner.this()))
        os.ftruncate(self._file.fileno(), 0)
        os.pwrite(self._file.fileno(), owner.encode(), 0)

    def _lock_file(self, file: FileIO) -> FileIO | None:
        """Return the file once it is locked,
        None when it was removed or replaced meanwhile.
        """
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._refusal(Owner.read(self._folder)) from None
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            # Without flock, the file itself is the lock.
            owner = Owner.read(self._folder)
            if owner is not None and owner != Owner.this() and not owner.is_gone():
                raise self._refusal(owner) from None

        # a copy by hard links: the other directory's file stays as it is
        if os.fstat(file.fileno()).st_nlink > 1:
            self._folder.remove(LOCK)

        # Whoever held the lock before may have removed the file after it was opened
        # here: the lock then is on a file that nobody else finds.
        try:
            status = os.lstat(self._folder.path / LOCK)
        except FileNotFoundError:
            return None
        return file if os.path.samestat(os.fstat(file.fileno()), status) else None

    def _refusal(self, owner: Owner | None) -> HarnessError:
        text = f" ({owner})" if owner else ""
        return HarnessError(
            f"{self._folder.path}: another process is writing this run{text}"
        )

    def release(self) -> None:
        """Release the lock and remove its file, which only the holder does."""
        if self._file is None:
            return
        try:
            with contextlib.suppress(OSError):  # the folder may have been removed
                self._folder.remove(LOCK)
        finally:
            self._file.close()
            self._file = None
