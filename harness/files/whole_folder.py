"""Files and folders that are written whole or not at all: under a temporary name beside
their own, ``.NAME.PROCESS.tmp``.

Their writer holds a lock on them (``flock``), which the system releases when the
process ends, however it ends. What a killed process left is removed by the next writer
of the name, once no process of the number exists and the lock is free.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_TEMPORARY = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.tmp")


def temporary_name(name: str) -> str:
    """Return the name under which this process writes a file or folder.

    >>> re.fullmatch(r"\\.out\\.[0-9]+\\.tmp", temporary_name("out")) is not None
    True
    """
    return f".{name}.{os.getpid()}.tmp"


def is_left_over(entry: str, names: Iterable[str]) -> bool:
    """Return True for the temporary name of one of some names whose process has
    ended.
    """
    match = _TEMPORARY.fullmatch(entry)
    if match is None or match["name"] not in names:
        return False

    # The signal 0 asks whether there is such a process.
    try:
        os.kill(int(match["process"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # there is, of another user
        return False
    return False


def remove_left_overs(folder: Path, names: Iterable[str]) -> None:
    """Remove what processes that were killed left of these names in a folder, links
    without what they point to.
    """
    own_names = set(names)
    with suppress(FileNotFoundError):
        for entry in os.listdir(folder):
            if is_left_over(entry, own_names):
                _remove_unless_held(folder / entry)


def _remove_unless_held(path: Path) -> None:
    """Remove a left-over file or folder, unless a process of another machine holds its
    lock.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        # A link, or no permission to read: it is no file that a writer holds.
        _remove(path)
        return

    try:
        if hold_temporary(descriptor):
            _remove(path)
    finally:
        os.close(descriptor)


def hold_temporary(descriptor: int) -> bool:
    """Lock an open file or folder until it is closed; return False where another
    process holds it.

    On a file system without locks nothing is held: the number of the process in the
    name alone tells.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def name_file(path: Path) -> Generator[None]:
    """Context whose system errors, such as a full disk, name a file: those of an open
    file name none, those of a rename a temporary one.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
            error.filename2 = None
        raise


@contextmanager
def whole_file(path: Path) -> Generator[BinaryIO]:
    """Yield a new file that takes the place of ``path`` when the block ends without an
    error; a link of that name is replaced.

    A kill or a full disk leaves ``path`` as it was before. System errors name ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_left_overs(path.parent, {path.name})
    temporary = path.with_name(temporary_name(path.name))
    with name_file(path):
        try:
            # Of a killed process that had the number of this one, as in containers.
            temporary.unlink(missing_ok=True)
            with open(temporary, "xb") as file:
                hold_temporary(file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def temporary_folder(path: Path) -> Generator[Path]:
    """Yield a new folder beside ``path`` under its temporary name, and remove it at the
    end where it still is.

    What killed processes left under such names is removed before. The folder of
    ``path`` must be there.
    """
    remove_left_overs(path.parent, {path.name})
    folder = path.with_name(temporary_name(path.name))

    # Of a killed process that had the number of this one, as in containers.
    if os.path.lexists(folder):
        _remove_unless_held(folder)
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        hold_temporary(descriptor)
        yield folder
    finally:
        os.close(descriptor)
        if folder.exists():
            _remove(folder)


@contextmanager
def whole_folder(path: Path) -> Generator[Path]:
    """Yield a new folder that takes the place of ``path`` when the block ends without
    an error.

    A kill or a power cut at any point leaves ``path`` as it was before or as it is
    after, so that the same command can be given again; between the two renames that
    replace a folder which holds files it may be missing.
    """
    target = path.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    old_name = target.with_name(f"{target.name}.old")
    remove_left_overs(target.parent, {old_name.name})
    with temporary_folder(target) as new:
        yield new

        # The content is on disk before its name is: a power cut between the two leaves
        # no empty files under the name. An empty folder is replaced by the rename.
        sync_folder(new)
        old = target.with_name(temporary_name(old_name.name))
        replaces = target.exists() and any(target.iterdir())
        if replaces:
            os.replace(target, old)
        os.replace(new, target)
        sync_names(target.parent)
        if replaces:
            _remove(old)


def sync_folder(folder: Path) -> None:
    """Flush the content of all files in a folder, and all names in it, to disk; system
    errors name the file.
    """
    for parent, _, names in os.walk(folder, topdown=False):
        for path in (Path(parent, name) for name in names):
            with name_file(path), open(path, "rb") as file:
                os.fsync(file.fileno())
        sync_names(Path(parent))


def sync_names(folder: Path) -> None:
    """Flush the names in a folder to disk, so that a rename in it is not lost; a folder
    that may be passed and not read is left alone.
    """
    with suppress(PermissionError), name_file(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
