"""Files that verbs write for people: one that is there already is replaced only where
it is unchanged since a verb wrote it.

The file :data:`OUTPUTS` in the folder of the outputs has a line ``SHA256  NAME`` for
every content that was written under a name. A file whose content has no line there was
written, filled in or changed by somebody else. The line comes before the file, so that
the same command goes on after a kill between the two; lines are only appended, each in
one call, so that several processes may write into a folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from harness.errors import InputError
from harness.files.whole_folder import name_file, whole_file

OUTPUTS = ".harness-outputs"
"""Record of the outputs in a folder."""
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_PLAIN = (
    "is no plain file; remove it: it records what the harness wrote into the folder"
)


def is_unchanged_output(path: Path, folder: Path | None = None) -> bool:
    """Return True for a plain file that is as a verb wrote it there.

    Parameters
    ----------
    path : Path
        The file.
    folder : Path, optional
        Folder above it with the record of the outputs; default: its own.

    Raises
    ------
    OSError
        The file cannot be read.
    """
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, "rb") as file:
        digest = hashlib.file_digest(cast("Any", file), "sha256").hexdigest()
    return _line(digest, path, folder) in _read_record(folder or path.parent)


def check_output(path: Path, *, overwrite: bool, folder: Path | None = None) -> None:
    """Raise :class:`InputError` where a verb may not write a file; parameters as for
    :func:`write_output`.
    """
    if not os.path.lexists(path):
        return
    if path.is_dir():
        raise InputError("is a folder; expected the name of a file", str(path))
    if path.exists() and not path.is_file():
        raise InputError(
            "is a device or a pipe; expected the name of a file", str(path)
        )
    if not overwrite and not is_unchanged_output(path, folder):
        raise InputError(
            "is there already, and was not written by the harness, "
            "or was changed since; give another name, or overwrite=True to replace it",
            str(path),
        )


def write_output(
    path: Path, data: bytes, *, overwrite: bool, folder: Path | None = None
) -> Path:
    """Write the output of a verb whole or not at all, and return its path.

    Parameters
    ----------
    path : Path
        The file.
    data : bytes
        Its content.
    overwrite : bool
        Replace a file that no verb wrote, or that was changed since.
    folder : Path, optional
        Folder above it with the record of the outputs; default: its own.

    Raises
    ------
    InputError
        A file of other content is there that is no unchanged output, and ``overwrite``
        is False; or the name is no file's.
    """
    has_content = path.is_file() and not path.is_symlink() and path.read_bytes() == data
    if not has_content:
        check_output(path, overwrite=overwrite, folder=folder)
    # The line comes before the file: the same command goes on after a kill between the
    # two.
    line = _line(hashlib.sha256(data).hexdigest(), path, folder)
    _record(line, folder or path.parent)
    if not has_content:
        with whole_file(path) as file:
            file.write(data)
    return path


def write_outputs(
    files: Iterable[tuple[Path, bytes]], *, overwrite: bool, folder: Path | None = None
) -> list[Path]:
    """Write files as they come by :func:`write_output`, and return their paths."""
    return [
        write_output(path, data, overwrite=overwrite, folder=folder)
        for path, data in files
    ]


def _line(digest: str, path: Path, folder: Path | None) -> bytes:
    """Return the line of the record for a content and the name of a file within the
    folder of the record.
    """
    name = path.name if folder is None else path.relative_to(folder).as_posix()
    escaped = os.fsencode(name).replace(b"\\", b"\\\\").replace(b"\n", b"\\n")
    return digest.encode() + b"  " + escaped


def _read_record(folder: Path) -> set[bytes]:
    """Return the lines of the record in a folder; other lines than those of outputs do
    not disturb.
    """
    try:
        with os.fdopen(_open_record(folder, os.O_RDONLY), "rb") as file:
            return set(file.read().split(b"\n"))
    except FileNotFoundError:
        return set()


def _record(line: bytes, folder: Path) -> None:
    """Append a line to the record in a folder, which is created when missing."""
    folder.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    with (
        name_file(folder / OUTPUTS),
        os.fdopen(_open_record(folder, flags), "rb+", buffering=0) as file,
    ):
        content = file.read()
        if line in content.split(b"\n"):
            return

        # A full disk may have cut off the line before.
        is_torn = bool(content) and not content.endswith(b"\n")
        data = (b"\n" if is_torn else b"") + line + b"\n"
        while data:
            data = data[file.write(data) :]
        os.fsync(file.fileno())


def _open_record(folder: Path, flags: int) -> int:
    """Return a descriptor of the record in a folder; raise :class:`InputError` for a
    link, a pipe or a folder of its name.
    """
    path = folder / OUTPUTS
    try:
        descriptor = os.open(path, flags | _OPEN, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise InputError(_NOT_PLAIN, str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InputError(_NOT_PLAIN, str(path))
    return descriptor
