"""Files that the adversary plants, damages and watches."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.rundir.file_names import COMMIT, PENDING

NAMES = (
    *(
        ".lock",
        "log.jsonl",
        "manifest.json",
        "results.json",
        "samples.parquet",
        "comparisons.json",
        "shards.json",
        "report.html",
    ),
    *("commit.json", "candidates", "scores"),
)
"""Names of a run directory at which something is planted although nothing is there yet.
"""
WRITTEN = (".lock", "log.jsonl", "commit.json", ".next")
"""Those that a command writes in place or first: something is planted there more often.
"""
VITAL = ("manifest.json", "results.json", "samples.parquet", "commit.json")
PLANTS = (
    "symlink",
    "symlink to a copy",
    "dangling symlink",
    "hard link",
    "fifo",
    "folder",
)
TEARS = ("half", "empty", "flipped", "zeros")
FOREIGN = ("photos", "photos and results", "a web page", "names of a run")


def is_vital(name: str) -> bool:
    """Return True for a file without which a run has no results; anything else is
    computed again or shown once.
    """
    return Path(name).name in VITAL


@dataclass
class Plant:
    """Something in place of a file of a run directory."""

    kind: str
    path: Path
    original: Path | None
    """The file that was there, moved aside; None without one."""
    number: int
    """Inode of what was planted."""
    made_folder: Path | None = None
    """Run directory that was made for it."""
    name: str = ""
    """Path within the run directory."""

    @classmethod
    def put(cls, kind: str, run: Path, outside: Path, share: int) -> Plant:
        """Put something at a name of the run directory;
        ``share`` (0 to 999) chooses the name.
        """
        made_folder = None if run.is_dir() else run
        run.mkdir(exist_ok=True)
        inner = (str(path.relative_to(run)) for path in run.rglob("*"))
        names = sorted({*NAMES, *inner}) + 3 * sorted(WRITTEN)

        if (run / COMMIT).exists():
            # A commit without its files cannot be carried out: the directory is then
            # that of before, which no state of the model is.
            names = [name for name in names if name.partition("/")[0] != PENDING]
        path = run / names[share * len(names) // 1000]

        original = None
        if path.is_symlink() or path.exists():
            original = outside.parent / f"original-{outside.name}"
            path.rename(original)

        # What stood there is copied outside, where a link can point to it.
        copy = outside / "copy"
        if copy.is_dir():
            shutil.rmtree(copy, ignore_errors=True)
        else:
            copy.unlink(missing_ok=True)
        if original is not None and original.is_dir():
            shutil.copytree(original, copy)
        elif original is not None:
            shutil.copyfile(original, copy)
        else:
            copy.write_text("precious too\n")

        if kind == "symlink":
            path.symlink_to(outside / ("copy" if copy.is_dir() else "victim.txt"))
        elif kind == "symlink to a copy" or (kind == "hard link" and copy.is_dir()):
            path.symlink_to(copy)
        elif kind == "dangling symlink":
            path.symlink_to(outside / "absent")
        elif kind == "hard link":
            path.hardlink_to(copy)
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
            (path / "inner.txt").write_text("mine\n")

        return cls(
            kind,
            path,
            original,
            path.lstat().st_ino,
            made_folder,
            str(path.relative_to(run)),
        )

    def take_away(self) -> None:
        """Put back what was there, where the planted thing still is;
        a command may have replaced it.
        """
        there = self.path.is_symlink() or self.path.exists()
        if there and self.path.lstat().st_ino == self.number:
            _remove(self.path)
            there = False
        if self.original is not None and (
            self.original.is_symlink() or self.original.exists()
        ):
            if not there and self.path.parent.is_dir():
                self.original.rename(self.path)
            else:
                _remove(self.original)
        if (
            self.made_folder is not None
            and self.made_folder.is_dir()
            and not any(self.made_folder.iterdir())
        ):
            self.made_folder.rmdir()

    def __str__(self) -> str:
        return f"{self.kind} at {self.name}"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def tear(run: Path, how: str, share: int) -> str:
    """Damage a file of a run directory and return its name; empty where there is none.

    A file without a checksum (the manifest, the log) is cut off, as a machine that goes
    down may leave it, but no byte of it altered.
    """
    files = sorted(
        path
        for path in run.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != ".lock"
    )
    if not files:
        return ""
    path = files[share * len(files) // 1000]
    data = path.read_bytes()
    if how == "flipped" and path.name in (
        "manifest.json",
        "log.jsonl",
        "report.html",
        "comparisons.json",
    ):
        how = "half"
    if how in ("flipped", "zeros") and data:
        at = share * 7919 % len(data)
        data = (
            data[:at] + bytes([data[at] ^ (1 << share % 8)]) + data[at + 1 :]
            if how == "flipped"
            else data[:at] + bytes(len(data) - at)
        )
    else:
        data = data[: len(data) // 2] if how == "half" else b""
    _replace(path, data)
    return str(path.relative_to(run))


def alter(path: Path, share: int) -> None:
    """Replace a letter or digit of a file by another of its kind,
    so that it stays a text of the same form.
    """
    data = path.read_bytes()
    places = [at for at, byte in enumerate(data) if byte < 128 and chr(byte).isalnum()]
    if places:
        at = places[share * 7919 % len(places)]
        first, count = next(
            (ord(kind), 10 if kind == "0" else 26)
            for kind in "aA0"
            if data[at] >= ord(kind)
        )
        other = first + (data[at] - first + 1 + share % (count - 1)) % count
        _replace(path, data[:at] + bytes([other]) + data[at + 1 :])


def _replace(path: Path, data: bytes) -> None:
    """Put a new file in place of one that may have hard links."""
    beside = path.with_name(".torn")
    beside.write_bytes(data)
    beside.rename(path)


def link_files(run: Path, outside: Path) -> list[tuple[Path, Path]]:
    """Move every file of a run directory elsewhere, with a symbolic link in its place,
    and return links and files.
    """
    shutil.rmtree(outside, ignore_errors=True)
    links: list[tuple[Path, Path]] = []
    for path in sorted(run.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name != ".lock":
            copy = outside / path.relative_to(run)
            copy.parent.mkdir(parents=True, exist_ok=True)
            path.rename(copy)
            path.symlink_to(copy)
            links.append((path, copy))
    return links


def unlink_files(links: Iterable[tuple[Path, Path]]) -> None:
    """Put the files back where their links still are;
    a command may have replaced or removed them.
    """
    for path, copy in links:
        if path.is_symlink():
            path.unlink()
            copy.rename(path)


def write_foreign(folder: Path, kind: str) -> None:
    """Write a folder that is no run directory,
    some of whose files have names of one.
    """
    (folder / "scores").mkdir(parents=True)
    (folder / "scores" / "holiday.txt").write_text("sun 9\n")
    if kind != "names of a run":
        (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    if kind in ("photos and results", "names of a run"):
        (folder / "results.json").write_text('{"mine": 1}\n')
        (folder / "candidates").mkdir()
        (folder / "candidates" / "names.jsonl").write_text('"Ann"\n')
    if kind == "a web page":
        (folder / "index.html").write_text("<p>mine</p>\n")
        (folder / "report.html").write_text("<p>mine</p>\n")


def snapshot(folder: Path) -> dict[str, str]:
    """Return kind, mode, time of change and content of everything in a folder,
    by path.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        content = ""
        if stat.S_ISREG(status.st_mode):
            content = path.read_bytes().hex()
        elif path.is_symlink():
            content = os.readlink(path)
        time = 0 if path.is_dir() else status.st_mtime_ns
        found[str(path)] = f"{kind:o} {status.st_mode:o} {time} {content}"
    return found


def changes_of(before: dict[str, str], after: dict[str, str]) -> str:
    """Return the names of the files that differ between two snapshots, at most four."""
    names = [
        Path(name).name
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    return ", ".join(names[:4])
