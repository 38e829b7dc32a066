"""Checksums of a file or folder of the cache, by which later processes see that it is
damaged.

The list is ``checksums.crc32`` inside a folder and ``NAME.crc32`` beside a file. Each
line is a CRC-32, eight hexadecimal digits, a blank and a path within the folder, or the
name of the file.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

from harness.files.whole_folder import temporary_name

LIST = "checksums.crc32"
_BLOCK = 1 << 16
"""Bytes that are read at a time."""


def list_of(place: Path) -> Path:
    """Return the path of the list of a file or folder."""
    return place / LIST if place.is_dir() else place.with_name(f"{place.name}.crc32")


def record_checksums(place: Path) -> None:
    """Write the list of a file, or of all files in a folder."""
    path = list_of(place)
    lines = [
        f"{_checksum(file)} {file.relative_to(path.parent).as_posix()}\n"
        for file in _files(place)
    ]
    temporary = path.with_name(temporary_name(path.name))
    try:
        temporary.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def find_damage(place: Path) -> Path | None:
    """Return a file that is not as it was recorded, or the list where it cannot be
    read; None where every file is whole.

    Raises
    ------
    FileNotFoundError
        If there is no list.
    OSError
        If a file is there and cannot be read.
    """
    path = list_of(place)
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    checksums: dict[str, str] = {}
    for line in text.splitlines():
        checksum, space, name = line.partition(" ")
        if space:
            checksums[name] = checksum

    # A list that was cut off, or has a line of another form, is damaged itself.
    if not checksums or not text.endswith("\n") or len(checksums) != text.count("\n"):
        return path

    for name, checksum in checksums.items():
        file = path.parent / name
        if not file.is_file() or _checksum(file) != checksum:
            return file
    return None


def _files(place: Path) -> list[Path]:
    """Return a file itself, or the files of a folder at any depth without its list."""
    if not place.is_dir():
        return [place]
    return sorted(
        file for file in place.rglob("*") if file.is_file() and file != place / LIST
    )


def _checksum(path: Path) -> str:
    """Return the CRC-32 of a file, which is read in blocks."""
    checksum = 0
    block = memoryview(bytearray(_BLOCK))
    with open(path, "rb", buffering=0) as file:
        while size := file.readinto(block):
            checksum = zlib.crc32(block[:size], checksum)
    return f"{checksum:08x}"
