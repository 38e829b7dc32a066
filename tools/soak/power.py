"""A power cut: what was not synced is lost, names and contents each by themselves.

The library ``shim.c`` keeps every synced file and directory by its number (inode).
:func:`keep_disk` writes what is on the disk before, in the same form. After the process
was killed, :func:`lose_unsynced` makes of the folder what a disk may hold then. POSIX
promises no more than this: of each file the content of its last fsync, and of each
directory the names of its last fsync. What was not synced may have reached the disk all
the same, in any order: a choice is made for each changed name and each changed content.
A rename is atomic: its two names are changed together or not at all. Without that no
program could replace a file.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = "d"
FILE = "f"
OTHER = "o"
Chance = Callable[[str], bool]
"""Function of ``name`` or ``content``: whether a change that was not synced has reached
the disk.
"""


class Entry(NamedTuple):
    """The thing that a name of a directory stands for."""

    kind: str
    inode: int


Names = dict[str, Entry]
_held: list[int] = []
"""Open files of :func:`keep_disk`, whose numbers are not given to others as long as
this process lives.
"""


def keep_disk(below: Path, kept: Path) -> None:
    """Write the present files and directories of a folder as synced ones,
    and hold them open.
    """
    kept.mkdir(parents=True, exist_ok=True)
    for folder, inode in _folders(below):
        names = read_names(folder)
        (kept / f"{inode}.names").write_bytes(
            b"".join(
                b"%s %d %s\0" % (e.kind.encode(), e.inode, os.fsencode(n))
                for n, e in names.items()
            )
        )
        for name, entry in names.items():
            _held.append(
                os.open(folder / name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            )
            if entry.kind == FILE:
                shutil.copyfile(folder / name, kept / f"{entry.inode}.data")


def _folders(below: Path) -> Iterator[tuple[Path, int]]:
    for folder, _, _ in os.walk(below):
        yield Path(folder), os.lstat(folder).st_ino


def read_names(folder: Path) -> Names:
    """Return the names of a directory."""
    names: Names = {}
    for name in sorted(os.listdir(folder)):
        status = os.lstat(folder / name)
        kind = OTHER
        if stat.S_ISDIR(status.st_mode):
            kind = FOLDER
        elif stat.S_ISREG(status.st_mode):
            kind = FILE
        names[name] = Entry(kind, status.st_ino)
    return names


def chances(seed: int) -> Chance:
    """Return what reaches the disk unsynced: nothing for the seed 0, all names and no
    content for 1, chance for others.
    """
    generator = random.Random(seed)
    return lambda what: (
        (seed == 1 and what == "name") if seed < 2 else generator.random() < 0.5
    )


class Disk:
    """The synced part of a folder, and the folder that programs saw at a power cut.

    Parameters
    ----------
    below : Path
        The folder, which no process changes any more.
    kept : Path
        Folder of :func:`keep_disk` and of the library.
    """

    def __init__(self, below: Path, kept: Path) -> None:
        self._root = os.lstat(below).st_ino
        self._now: dict[int, Names] = {}
        self._contents: dict[int, bytes] = {}
        for folder, inode in _folders(below):
            self._now[inode] = read_names(folder)
            for name, entry in self._now[inode].items():
                if entry.kind == FILE:
                    self._contents[entry.inode] = (folder / name).read_bytes()
        self._synced = {
            int(path.stem): _parse_names(path.read_bytes())
            for path in kept.glob("*.names")
        }
        self._synced_contents = {
            int(path.stem): path.read_bytes() for path in kept.glob("*.data")
        }
        before, after = (_places(tree) for tree in (self._synced, self._now))
        self._moved = {
            inode
            for inode in before.keys() & after.keys()
            if before[inode] - after[inode] and after[inode] - before[inode]
        }

    def after(self, reaches: Chance) -> dict[str, bytes | None]:
        """Return what the folder holds after the cut: path -> content,
        None for folders and for what is no file.
        """
        choices: dict[object, bool] = {}

        def has_reached(key: object, what: str) -> bool:
            if key not in choices:
                choices[key] = reaches(what)
            return choices[key]

        def content(inode: int) -> bytes:
            synced = self._synced_contents.get(inode, b"")
            now = self._contents.get(inode, synced)
            return (
                now
                if now != synced and has_reached(("content", inode), "content")
                else synced
            )

        def files(inode: int, folder: str) -> Iterator[tuple[str, bytes | None]]:
            synced = self._synced.get(inode, {})
            now = self._now.get(inode, {})
            for name in sorted({*synced, *now}):
                entry = before = synced.get(name)
                after = now.get(name)
                if before != after:
                    moved = next(
                        (
                            item.inode
                            for item in (before, after)
                            if item is not None and item.inode in self._moved
                        ),
                        None,
                    )
                    key = ("rename", moved) if moved is not None else (inode, name)
                    entry = after if has_reached(key, "name") else before
                if entry is not None:
                    yield (
                        f"{folder}{name}",
                        content(entry.inode) if entry.kind == FILE else None,
                    )
                    if entry.kind == FOLDER:
                        yield from files(entry.inode, f"{folder}{name}/")

        return dict(files(self._root, ""))


def _parse_names(data: bytes) -> Names:
    fields = [os.fsdecode(line).split(" ", 2) for line in data.split(b"\0")[:-1]]
    return {name: Entry(kind, int(number)) for kind, number, name in fields}


def _places(tree: dict[int, Names]) -> dict[int, set[tuple[int, str]]]:
    """Return file or directory -> the directories and names under which it is found."""
    places: dict[int, set[tuple[int, str]]] = {}
    for folder, names in tree.items():
        for name, entry in names.items():
            places.setdefault(entry.inode, set()).add((folder, name))
    return places


def lose_unsynced(below: Path, kept: Path, reaches: Chance) -> None:
    """Undo in a folder what was not synced, as :class:`Disk` says,
    and remove ``kept``.
    """
    after = Disk(below, kept).after(reaches)
    for path in sorted(below.rglob("*"), reverse=True):
        name = str(path.relative_to(below))
        is_file = stat.S_ISREG(path.lstat().st_mode)
        if name in after and (after[name] is not None) == is_file:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    write_files(below, after)
    shutil.rmtree(kept)


def write_files(folder: Path, files: dict[str, bytes | None]) -> None:
    """Write files and folders, those alone that are not there with this content."""
    for name, content in sorted(files.items()):
        path = folder / name
        if content is None and not path.is_symlink() and not path.exists():
            path.mkdir(parents=True)
        elif content is not None and not (
            path.is_file() and path.read_bytes() == content
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            # a file with several names keeps the others as they are
            path.unlink(missing_ok=True)
            path.write_bytes(content)
