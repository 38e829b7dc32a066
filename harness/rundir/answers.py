"""Answers of models on disk: an append-only file of rows by example, each line with a checksum.

One file holds the rows of one model and decoding for a block of examples. A row is written as soon as the model yields it, under a
key of the example's content, so that a killed run loses no answer that it has received, and parts of one run are joined by
concatenating their files. A torn or damaged line is left out and its example is asked for again.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Mapping, Sequence
from io import FileIO
from types import TracebackType
from typing import cast

from harness.files.json_text import parse_json
from harness.rundir.run_folder import RunFolder

_log = logging.getLogger(__name__)

Row = Mapping[str, object]
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


class MemoryAnswers:
    """Rows of a run without a directory."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def read(self) -> dict[str, Row]:
        """Return the rows by key."""
        return self._rows

    def writer(self) -> AnswerWriter:
        """Return these rows as their own writer."""
        return self

    def drop(self) -> None:
        """Remove all rows."""
        self._rows.clear()

    def __enter__(self) -> AnswerWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return

    def append(self, key: str, row: Row) -> None:
        """Add the row of an example."""
        self._rows[key] = row


class AnswerFile:
    """Rows on disk, one line ``KEY CHECKSUM JSON`` each: the file ``name`` of a run directory."""

    def __init__(self, folder: RunFolder, name: str) -> None:
        self.folder, self.name = folder, name
        self.path = folder.path / name

    def read(self) -> dict[str, Row]:
        """Return the rows by key, without damaged lines."""
        try:
            data = self.folder.read(self.name)
        except FileNotFoundError:
            return {}
        rows: dict[str, Row] = {}
        damaged = 0
        for line in data.split(b"\n"):
            if not line:
                continue
            pair = _parse_line(line)
            if pair is None:
                damaged += 1
            else:
                rows[pair[0]] = pair[1]
        if damaged:
            lines = "line is" if damaged == 1 else "lines are"
            _log.warning("%s: %d %s damaged; these answers are computed again", self.path, damaged, lines)
        return rows

    def writer(self) -> AnswerWriter:
        """Return a writer that appends to the file."""
        return _FileWriter(self)

    def drop(self) -> None:
        """Remove the file."""
        self.folder.remove(self.name)


class _FileWriter:
    """Appends lines to a file; opened by the first row."""

    def __init__(self, answers: AnswerFile) -> None:
        self._answers = answers
        self._file: FileIO | None = None

    def __enter__(self) -> AnswerWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()

    def append(self, key: str, row: Row) -> None:
        """Write a line; the operating system has it when the call returns."""
        if self._file is None:
            self._file = self._answers.folder.append(self._answers.name)
            self._file.seek(0)
            tail = self._file.readall().rpartition(b"\n")[2]  # a line that a kill or a full disk tore
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


Answers = MemoryAnswers | AnswerFile
"""Rows of one block of examples by key."""
AnswerWriter = MemoryAnswers | _FileWriter
"""Appends rows, in a ``with`` block."""


def join_answers(sources: Sequence[AnswerFile], target: AnswerFile) -> None:
    """Write the lines of several answer files of one block into ``target``, as new lines of it."""
    with target.writer() as writer:
        present = set(target.read())
        for source in sources:
            for key, row in source.read().items():
                if key not in present:
                    writer.append(key, row)
                    present.add(key)


def _line(key: str, row: Row) -> bytes:
    text = _ENCODER.encode(row).encode()
    return b"%s %08x %s\n" % (key.encode(), zlib.crc32(text), text)


def _parse_line(line: bytes) -> tuple[str, Row] | None:
    fields = line.split(b" ", 2)
    if len(fields) != 3:
        return None
    key, checksum, text = fields
    if checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        row = parse_json(text)
    except ValueError:
        return None
    return (key.decode("ascii", "replace"), cast(Row, row)) if isinstance(row, dict) else None
