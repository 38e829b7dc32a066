"""Files that are written without a buffer: their errors name them, and their stamps are
computed on the way.
"""

from __future__ import annotations

import hashlib
import io
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from harness.files.whole_folder import name_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
from harness.rundir.commit_file import FileStamp


class NamedFile(FileIO):
    """A file without a buffer whose errors name it."""

    def __init__(self, descriptor: int, mode: str, path: Path) -> None:
        super().__init__(descriptor, mode)
        self.path = path

    def write(self, data: ReadableBuffer, /) -> int:
        """Write data and return how many of its bytes were written."""
        with name_file(self.path):
            return super().write(data)


class StampedFile(io.RawIOBase):
    """A new file whose stamp is computed while it is written,
    so that it need not be read again.
    """

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__()
        self._file = NamedFile(descriptor, "w", path)
        self._hash = hashlib.sha256()
        self._size = 0

    @property
    def stamp(self) -> FileStamp:
        """Size and SHA-256 of what was written."""
        return FileStamp(self._size, self._hash.hexdigest())

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()

    def tell(self) -> int:
        """Return the number of bytes that were written."""
        return self._size

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of the data and return their length in bytes."""
        view = memoryview(data).cast("B")
        while len(view):
            written = self._file.write(view)
            self._hash.update(view[:written])
            self._size += written
            view = view[written:]
        return memoryview(data).nbytes

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()
