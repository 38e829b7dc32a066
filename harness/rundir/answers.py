"""Answers of models on disk: an append-only file of rows by example,
each line with a checksum.

One file holds the rows of one model and decoding for a block of examples. A row is
written as soon as the model yields it, under a key of the example's content, so that a
killed run loses no answer that it has received, and parts of one run are joined by
concatenating their files. A torn or damaged line is left out and its example is asked
for again.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from io import FileIO

from harness.files.json_text import encode_row, parse_row
from harness.rundir.run_folder import RunFolder

_log = logging.getLogger(__name__)

Row = Mapping[str, object]


class MemoryAnswers:
    """Rows of a run without a directory."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def read(self) -> dict[str, Row]:
        """Return the rows by key."""
        return self._rows

    def append(self, key: str, row: Row) -> None:
        """Add the row of an example."""
        self._rows[key] = row

    def close(self) -> None:
        """Do nothing; the rows stay."""

    def drop(self) -> None:
        """Remove all rows."""
        self._rows.clear()


class AnswerFile:
    """Rows on disk, one line ``KEY CHECKSUM JSON`` each:
    the file ``name`` of a run directory.
    """

    def __init__(self, folder: RunFolder, name: str) -> None:
        self.folder = folder
        self.name = name
        self.path = folder.path / name
        self._file: FileIO | None = None
        self._is_new = False
        """True while the name of the file may not be on the disk."""

    def read(self) -> dict[str, Row]:
        """Return the rows by key, without damaged lines."""
        try:
            data = self.folder.read(self.name)
        except FileNotFoundError:
            return {}

        pairs = [_parse_line(line) for line in data.split(b"\n") if line]
        n_damaged = pairs.count(None)
        if n_damaged:
            _log.warning(
                "%s: %d %s damaged; these answers are computed again",
                self.path,
                n_damaged,
                "line is" if n_damaged == 1 else "lines are",
            )
        return dict(pair for pair in pairs if pair is not None)

    def append(self, key: str, row: Row) -> None:
        """Write a line; the operating system has it when the call returns.

        The first one opens the file.
        """
        if self._file is None:
            self._file = self.folder.append(self.name)
            self._file.seek(0)
            content = self._file.readall()
            self._is_new = not content

            # The last line is what a kill or a full disk tore: it is ended where only
            # its end is missing, else cut off, so that the next line stands alone.
            tail = content.rpartition(b"\n")[2]
            if tail and _parse_line(tail):
                self._write(b"\n")
            elif tail:
                self._file.truncate(self._file.tell() - len(tail))
        self._write(_line(key, row))

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        unwritten = memoryview(data)
        while unwritten:  # a disk that is nearly full takes a part
            unwritten = unwritten[self._file.write(unwritten) :]

    def close(self) -> None:
        """Bring the rows to the disk and close the file."""
        if self._file is not None:
            os.fsync(self._file.fileno())
            if self._is_new:
                self.folder.sync_names(self.name)
            self._file.close()
            self._file = None

    def drop(self) -> None:
        """Remove the file."""
        self.folder.remove(self.name)


Answers = MemoryAnswers | AnswerFile
"""Rows of one block of examples by key."""


def join_answers(sources: Sequence[AnswerFile], target: AnswerFile) -> None:
    """Write the lines of several answer files of one block into ``target``,
    as new lines of it.
    """
    present = set(target.read())
    with closing(target):
        for source in sources:
            for key, row in source.read().items():
                if key not in present:
                    target.append(key, row)
                    present.add(key)


def _line(key: str, row: Row) -> bytes:
    text = encode_row(row).encode()
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(text), text)


def _parse_line(line: bytes) -> tuple[str, Row] | None:
    try:
        key, checksum, text = line.split(b" ", 2)
        row = parse_row(text, int(checksum, 16))
    except ValueError:
        return None
    return None if row is None else (key.decode("ascii", "replace"), row)
