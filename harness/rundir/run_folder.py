"""Files of one run directory: opened inside it alone, replaced together by one commit.

A directory may come from somebody else. Each file is therefore opened relative to the
descriptor of its folder and never through a link (``O_NOFOLLOW``); links, devices and
pipes inside the directory are refused, links on the way to it are not.

A writer that replaces the files of a directory puts the new ones into the folder
:data:`PENDING`. The rename of :data:`COMMIT` is the moment at which they count: before
it the directory has its old content, after it the new one. The renames that follow may
be cut off by a kill at any point; the next writer repeats them, and until then readers
find the files through :data:`COMMIT`.

Somebody else may have written :data:`COMMIT`. It can therefore name nothing but files
of a run (:data:`COMMITTED`), a reader carries nothing out, and a writer does so under
the lock of the run. The size and hash of each file in it find damage; they are no proof
of who wrote it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from harness.errors import InputError
from harness.files import whole_folder
from harness.files.json_text import parse_json
from harness.files.whole_folder import hold_temporary, name_file, temporary_name
from harness.rundir.commit_file import Commit, DamagedCommit, FileStamp, parse_commit
from harness.rundir.file_names import ARTIFACT_FOLDERS, COMMIT, PENDING
from harness.rundir.written_file import NamedFile, StampedFile

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINK = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags of every file: ``O_NONBLOCK`` keeps a pipe from blocking until it is refused.
"""


@dataclass(frozen=True)
class RunFolder:
    """Files of a directory by their names relative to it, such as ``scores/x.npz``."""

    path: Path

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
        is_gone = commit is not None and top in commit.removed

        # A rename may come between the look at the commit and the opening of the file:
        # the second name is the one behind that rename.
        if commit is not None and top in commit.moved:
            with suppress(FileNotFoundError):
                waiting = self._descriptor(f"{PENDING}/{name}", os.O_RDONLY)
                return os.fdopen(waiting, "rb")
            # a folder that has not been renamed holds all its files
            is_gone = top in self.names(PENDING)

        if is_gone:
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), str(self.path / name)
            )
        return os.fdopen(self._descriptor(name, os.O_RDONLY), "rb")

    def read(self, name: str) -> bytes:
        """Return the content of a file; raises as :meth:`open`."""
        with self.open(name) as file:
            return file.read()

    def has(self, name: str) -> bool:
        """Return True for a file that :meth:`open` opens;
        raise :class:`InputError` for a link.
        """
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
        """Raise :class:`InputError` unless ``files`` are plain files, ``folders`` are
        folders, and these hold plain files alone; here and in :data:`PENDING`.
        """
        for inside in ("", f"{PENDING}/"):
            for name in self.names(inside.rstrip("/")):
                if name in folders:
                    self._require(f"{inside}{name}", stat.S_ISDIR)
                    for inner in self.names(f"{inside}{name}"):
                        self._require(f"{inside}{name}/{inner}", stat.S_ISREG)
                elif name == PENDING:
                    self._require(name, stat.S_ISDIR)
                elif inside or name in files:
                    # a commit moves all that the folder holds
                    self._require(f"{inside}{name}", stat.S_ISREG)

    def _require(self, name: str, is_right: Callable[[int], bool]) -> None:
        with suppress(FileNotFoundError):  # another process removed it
            if not is_right(os.lstat(self.path / name).st_mode):
                raise self._refusal(name)

    def write(self, name: str, data: bytes) -> None:
        """Write a file under a temporary name, flush it to disk, and rename it; a link
        of that name is replaced, not followed.
        """
        with (
            name_file(self.path / name),
            self._enter(name, create=True) as (folder, last),
        ):
            temporary = temporary_name(last)
            try:
                with os.fdopen(_create(folder, temporary), "wb") as file:
                    hold_temporary(file.fileno())
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, last, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)

    def create(self, name: str) -> StampedFile:
        """Open a new file for writing, in place of one that has this name."""
        with self._enter(name, create=True) as (folder, last):
            return StampedFile(_create(folder, last), self.path / name)

    def append(self, name: str) -> FileIO:
        """Open a file for appending without a buffer; a file with several names (hard
        links) becomes a copy of its own first.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        descriptor = self._descriptor(name, flags, create=True)
        if os.fstat(descriptor).st_nlink > 1:
            with os.fdopen(descriptor, "rb") as shared:
                self.write(name, shared.read())
            descriptor = self._descriptor(name, flags)
        return NamedFile(descriptor, "a+", self.path / name)

    def remove(self, *names: str) -> None:
        """Remove files, and folders with their content;
        names that do not exist are left out.
        """
        for name in names:
            with suppress(FileNotFoundError), self._enter(name) as (folder, last):
                if stat.S_ISDIR(os.lstat(last, dir_fd=folder).st_mode):
                    shutil.rmtree(last, dir_fd=folder)
                else:
                    os.unlink(last, dir_fd=folder)

    def commit(
        self, removed: Sequence[str] = (), stamps: Mapping[str, FileStamp] | None = None
    ) -> None:
        """Replace the files of the directory by those in :data:`PENDING`, and remove
        the files ``removed``; both happen or neither.

        Parameters
        ----------
        removed : sequence of str
            Names that the directory does not have after the commit.
        stamps : mapping, optional
            Name -> stamp of files in :data:`PENDING` whose stamp is known from writing
            them, and which are on the disk; the others are read and flushed.
        """
        moved: dict[str, FileStamp | None] = {}
        for name in self.names(PENDING):
            if not name.endswith(".tmp"):
                moved[name] = (stamps or {}).get(name) or self._stamp(name, sync=True)

        # The names that the commit counts on are brought to the disk before it: those
        # of the files that wait, of their folder, and of statistics.
        self.sync_artifacts(f"{PENDING}/")
        self._sync(PENDING)
        self.sync_artifacts()
        self._sync()

        commit = Commit(moved, [name for name in removed if name not in moved])
        self.write(COMMIT, json.dumps(asdict(commit)).encode())
        self.sync_names(COMMIT)
        self._carry_out(commit)

    def complete(self) -> None:
        """Carry out the renames of a commit that a kill cut off;
        without a commit nothing happens.

        Only the holder of the lock of the run calls it. Raises :class:`DamagedCommit`,
        before anything is changed, where a file that waits is not the one that the
        commit names.
        """
        commit = self._read_commit()
        if commit is None:
            return

        # A name that is not there any more was renamed before the kill.
        for name in set(commit.moved).intersection(self.names(PENDING)):
            if commit.moved[name] != self._stamp(name):
                raise DamagedCommit(
                    f"is damaged: it is not the file that {COMMIT} names; "
                    "remove both and run the spec again",
                    str(self.path / PENDING / name),
                )
        self._carry_out(commit)

    def _carry_out(self, commit: Commit) -> None:
        """Do the renames and removals of a commit, and remove the commit."""
        self.remove(*commit.removed)

        waiting = set(self.names(PENDING))
        for name in commit.moved:
            if name not in waiting:
                continue
            with (
                self._enter(f"{PENDING}/{name}") as (pending, last),
                self._enter(name) as (folder, _),
            ):
                if not stat.S_ISREG(os.lstat(last, dir_fd=pending).st_mode):
                    self.remove(name)  # a folder is not renamed over another one
                os.replace(last, last, src_dir_fd=pending, dst_dir_fd=folder)

        # The commit goes last: until the renames are on the disk, readers need it.
        self._sync()
        self.remove(PENDING, COMMIT)

    def _stamp(self, name: str, *, sync: bool = False) -> FileStamp | None:
        """Return the stamp of a file in :data:`PENDING`, read in blocks and with
        ``sync`` flushed to disk; None of a folder.
        """
        with self._enter(f"{PENDING}/{name}") as (folder, last):
            if stat.S_ISDIR(os.lstat(last, dir_fd=folder).st_mode):
                return None

        descriptor = self._descriptor(f"{PENDING}/{name}", os.O_RDONLY)
        with os.fdopen(descriptor, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            if sync:
                os.fsync(file.fileno())
            return FileStamp(file.tell(), digest.hexdigest())

    @property
    def has_commit(self) -> bool:
        """True when a commit waits for its renames."""
        return self._read_commit() is not None

    def _read_commit(self) -> Commit | None:
        try:
            with os.fdopen(self._descriptor(COMMIT, os.O_RDONLY), "rb") as file:
                return parse_commit(parse_json(file.read()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError(
                "is not a commit of this program: it names other things than files "
                "of a run, or is damaged. Nothing was changed; "
                f"if this directory is your run, remove {COMMIT} and {PENDING} "
                "and run the spec again",
                str(self.path / COMMIT),
            ) from None

    @contextmanager
    def _enter(self, name: str, *, create: bool = False) -> Generator[tuple[int, str]]:
        """Yield the descriptor of the folder of a file, and the file's name in it;
        ``create`` makes missing folders.
        """
        *folders, last = name.split("/")
        if create:
            self.path.mkdir(parents=True, exist_ok=True)

        # Each folder is opened inside the one before, never through a link: the whole
        # path at once would follow links in its middle.
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
                # names come from files of the run, which may be of somebody else
                if error.errno == errno.ENAMETOOLONG:
                    raise FileNotFoundError(
                        errno.ENOENT, os.strerror(errno.ENOENT), f"{name:.80}..."
                    ) from None
                raise

        # The file that is open is looked at, not its name, which may have changed.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._refusal(name)
        return descriptor

    def lock_file(self, name: str) -> FileIO:
        """Open a file for a lock, read and written without a buffer;
        created when missing.
        """
        return FileIO(self._descriptor(name, os.O_RDWR | os.O_CREAT), "r+")

    def sync_artifacts(self, inside: str = "") -> None:
        """Flush the names in the folders of captions and statistics to disk, those
        below the folder ``inside``, which ends with a slash.
        """
        for folder in ARTIFACT_FOLDERS:
            self._sync(f"{inside}{folder}")

    def sync_names(self, name: str) -> None:
        """Flush the names on the way to a file to disk: its own, those of its folders,
        and that of the directory.
        """
        *folders, _ = name.split("/")
        for depth in range(len(folders), -1, -1):
            self._sync("/".join(folders[:depth]))
        whole_folder.sync_names(self.path.parent)

    def _sync(self, folder: str = "") -> None:
        """Flush the names in a folder to disk, so that a rename before is not lost
        behind a later one; without the folder do nothing.
        """
        with (
            suppress(FileNotFoundError),
            self._enter(f"{folder}/." if folder else ".") as (descriptor, _),
        ):
            os.fsync(descriptor)

    def _refusal(self, name: str) -> InputError:
        return InputError(
            "is no plain file or folder; "
            "links, devices and pipes inside a run directory are not opened: "
            "copy the run with its content (cp -rL), or remove this one",
            str(self.path / name),
        )


def _create(folder: int, name: str) -> int:
    """Return the descriptor of a new file in an open folder;
    what had its name before is removed, not opened.
    """
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    return os.open(
        name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666, dir_fd=folder
    )
