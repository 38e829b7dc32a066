"""Files of one run directory: opened inside it alone, replaced together by one commit.

A directory may come from somebody else. Each file is therefore opened relative to the descriptor of its folder and never through a link
(``O_NOFOLLOW``); links, devices and pipes inside the directory are refused, links on the way to it are not.

A writer that replaces the files of a directory puts the new ones into the folder :data:`PENDING`. The rename of :data:`COMMIT` is the
moment at which they count: before it the directory has its old content, after it the new one. The renames that follow may be cut off
by a kill at any point; the next writer repeats them, and until then readers find the files through :data:`COMMIT`.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO, cast

from harness.errors import InputError
from harness.files.json_text import parse_json

COMMIT = "commit.json"
"""File that names the files of :data:`PENDING` that replace those of the directory, and the files that are removed with them."""
PENDING = ".next"
"""Folder of the files that the next commit brings into the directory."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags of every file: ``O_NONBLOCK`` keeps a pipe from blocking until it is refused."""


@dataclass(frozen=True)
class Commit:
    """Content of :data:`COMMIT`."""

    moved: Sequence[str]
    """Names of files and folders in :data:`PENDING` that replace those of the directory."""
    removed: Sequence[str] = ()
    """Names of files that are removed from the directory."""


@dataclass(frozen=True)
class RunFolder:
    """Files of a directory by their names relative to it, such as ``scores/x.npz``."""

    path: Path

    # ------------------------------------------------------------------ reading
    def open(self, name: str) -> BinaryIO:
        """Open a file for reading as the last commit left it.

        Raises
        ------
        FileNotFoundError
            There is no such file.
        InputError
            It is a link, a device or a pipe, or lies behind a link.
        """
        commit = self._read_commit()
        top = name.split("/", 1)[0]
        # A rename may come between the look at the commit and the opening of the file: the second name is the one behind that rename.
        is_gone = commit is not None and top in commit.removed
        if commit is not None and top in commit.moved:
            with suppress(FileNotFoundError):
                return os.fdopen(self._descriptor(f"{PENDING}/{name}", os.O_RDONLY), "rb")
            is_gone = top in self.names(PENDING)  # a folder that has not been renamed holds all its files
        if is_gone:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.path / name))
        return os.fdopen(self._descriptor(name, os.O_RDONLY), "rb")

    def read(self, name: str) -> bytes:
        """Return the content of a file; raises as :meth:`open`."""
        with self.open(name) as file:
            return file.read()

    def has(self, name: str) -> bool:
        """Return True for a file that :meth:`open` opens; raise :class:`InputError` for a link."""
        try:
            self.open(name).close()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def names(self, folder: str = "") -> list[str]:
        """Return the sorted names in a folder of the directory; empty without it."""
        try:
            with self._enter(f"{folder}/." if folder else ".") as (descriptor, _):
                return sorted(os.listdir(descriptor))
        except FileNotFoundError:
            return []

    def check(self, files: Collection[str], folders: Collection[str]) -> None:
        """Raise InputError where a file is none, a folder none, or what a folder holds is no file, here and in :data:`PENDING`."""
        for inside in ("", f"{PENDING}/"):
            for name in self.names(inside.rstrip("/")):
                if name in folders:
                    self._require(f"{inside}{name}", stat.S_ISDIR)
                    for inner in self.names(f"{inside}{name}"):
                        self._require(f"{inside}{name}/{inner}", stat.S_ISREG)
                elif name == PENDING:
                    self._require(name, stat.S_ISDIR)
                elif inside or name in files:  # a commit moves all that the folder holds
                    self._require(f"{inside}{name}", stat.S_ISREG)

    def _require(self, name: str, is_right: Callable[[int], bool]) -> None:
        with suppress(FileNotFoundError):  # another process removed it
            if not is_right(os.lstat(self.path / name).st_mode):
                raise self._refusal(name)

    # ------------------------------------------------------------------ writing
    def write(self, name: str, data: bytes) -> None:
        """Write a file under a temporary name, flush it to disk, and rename it; a link of that name is replaced, not followed."""
        with self._enter(name, create=True) as (folder, last):
            temporary = f".{last}.{os.getpid()}.tmp"
            try:
                with os.fdopen(_create(folder, temporary), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)

    def create(self, name: str) -> BinaryIO:
        """Open a new file for writing, in place of one that has this name."""
        with self._enter(name, create=True) as (folder, last):
            return os.fdopen(_create(folder, last), "wb")

    def append(self, name: str) -> FileIO:
        """Open a file for appending without a buffer; a file with several names (hard links) becomes a copy of its own first."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        descriptor = self._descriptor(name, flags, create=True)
        if os.fstat(descriptor).st_nlink > 1:
            with os.fdopen(descriptor, "rb") as shared:
                self.write(name, shared.read())
            descriptor = self._descriptor(name, flags)
        return FileIO(descriptor, "a+")

    def remove(self, *names: str) -> None:
        """Remove files, and folders with their content; names that do not exist are left out."""
        for name in names:
            with suppress(FileNotFoundError), self._enter(name) as (folder, last):
                if stat.S_ISDIR(os.lstat(last, dir_fd=folder).st_mode):
                    shutil.rmtree(last, dir_fd=folder)
                else:
                    os.unlink(last, dir_fd=folder)

    # ------------------------------------------------------------------ commits
    def commit(self, removed: Sequence[str] = ()) -> None:
        """Replace the files of the directory by those in :data:`PENDING`, and remove the files ``removed``; both happen or neither."""
        moved = [name for name in self.names(PENDING) if not name.endswith(".tmp")]
        self._sync(PENDING)
        self.write(COMMIT, json.dumps({"moved": moved, "removed": [name for name in removed if name not in moved]}).encode())
        self._sync()
        self.complete()

    def complete(self) -> None:
        """Carry out the renames of a commit that a kill cut off; without a commit nothing happens."""
        commit = self._read_commit()
        if commit is None:
            return
        self.remove(*commit.removed)
        waiting = set(self.names(PENDING))
        for name in commit.moved:
            if name in waiting:
                with self._enter(f"{PENDING}/{name}") as (pending, last), self._enter(name) as (folder, _):
                    if not stat.S_ISREG(os.lstat(last, dir_fd=pending).st_mode):
                        self.remove(name)  # a folder is not renamed over another one
                    os.replace(last, last, src_dir_fd=pending, dst_dir_fd=folder)
        self._sync()
        self.remove(PENDING, COMMIT)

    @property
    def has_commit(self) -> bool:
        """True when a commit waits for its renames."""
        return self._read_commit() is not None

    def _read_commit(self) -> Commit | None:
        try:
            with os.fdopen(self._descriptor(COMMIT, os.O_RDONLY), "rb") as file:
                content = parse_json(file.read())
        except FileNotFoundError:
            return None
        except ValueError:
            content = None
        names = cast("dict[str, object]", content) if isinstance(content, dict) else {}
        if not all(_is_name_list(names.get(key)) for key in ("moved", "removed")):
            raise InputError(f"is damaged; remove it to have the run before it, and the folder {PENDING}", str(self.path / COMMIT))
        return Commit(cast("list[str]", names["moved"]), cast("list[str]", names["removed"]))

    # ------------------------------------------------------------------ descriptors
    @contextmanager
    def _enter(self, name: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """Yield the descriptor of the folder of a file, and the file's name in it; ``create`` makes missing folders."""
        *folders, last = name.split("/")
        if create:
            self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, _FOLDER)
        try:
            for folder in folders:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=descriptor)
                try:
                    inner = os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
                except OSError as error:
                    if error.errno in (errno.ELOOP, errno.ENOTDIR):
                        raise self._refusal(folder) from None
                    raise
                os.close(descriptor)
                descriptor = inner
            yield descriptor, last
        finally:
            os.close(descriptor)

    def _descriptor(self, name: str, flags: int, *, create: bool = False) -> int:
        """Return the descriptor of a plain file; ``create`` makes missing folders."""
        with self._enter(name, create=create) as (folder, last):
            try:
                descriptor = os.open(last, flags | _NO_LINK, 0o666, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
                    raise self._refusal(name) from None
                raise
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._refusal(name)
        return descriptor

    def lock_file(self, name: str) -> FileIO:
        """Open a file for a lock, read and written without a buffer; created when missing."""
        return FileIO(self._descriptor(name, os.O_RDWR | os.O_CREAT), "r+")

    def _sync(self, folder: str = "") -> None:
        """Flush the names in a folder to disk, so that a rename before is not lost behind a later one."""
        with self._enter(f"{folder}/." if folder else ".") as (descriptor, _):
            os.fsync(descriptor)

    def _refusal(self, name: str) -> InputError:
        return InputError(
            "is no plain file or folder; links, devices and pipes inside a run directory are not opened: copy the run with its content "
            "(cp -rL), or remove this one",
            str(self.path / name),
        )


def _create(folder: int, name: str) -> int:
    """Return the descriptor of a new file in an open folder; what had its name before is removed, not opened."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666, dir_fd=folder)


def _is_name_list(value: object) -> bool:
    """Return True for a list of plain file names."""
    names = cast("list[object]", value) if isinstance(value, list) else [""]
    return all(isinstance(name, str) and name not in ("", ".", "..") and "/" not in name for name in names)
