"""A file that is to be read: what it is made of, looked at once, from the surest sign
to the weakest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal, cast

from harness.contracts import Parameters, Role
from harness.errors import InputError
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms.binary_files import binary_error
from harness.files.forms.json_shape import Shape, shape_of
from harness.files.forms.spreadsheets import spreadsheet_kind, spreadsheet_rows
from harness.files.forms.text import read_lines, table_rows, text_form
from harness.files.records import Record, json_lines, list_items, parquet_rows
from harness.files.streams import MAX_LINE, PartPath, lines_of
from harness.files.strict_json import ConstantError, decode_json, load_json
from harness.files.user_files import is_parquet, open_binary, plain_name
from harness.files.yaml_source import YamlValue

Container = Literal[
    "folder", "parquet", "archive", "old-excel", "document", "jsonl", "text"
]
"""Make of a file: ``document`` is one JSON value, ``archive`` a zip file, ``text``
lines or a table of text.
"""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
ZIP_MAGIC = b"PK\x03\x04"
OLE_MAGIC = b"\xd0\xcf\x11\xe0"
"""First bytes of files of Excel 97, and of workbooks with a password."""
HEAD = 5
"""Number of records that a form is recognised by."""
HEAD_LINES = 50
"""Number of lines that a form of text is recognised by."""
OTHER_CAPTIONS = ("predict", "label", "labels", "answer", "description")
"""Columns of captions of specific forms, beside the usual names: one that the user
names is no column of ids.
"""


class Sample:
    """A file in the role that it is read for; its properties are found when they are
    asked for, and kept.

    Parameters
    ----------
    path : Path
        An existing file or folder, or a part of one
        (:class:`~harness.files.streams.PartPath`).
    role : {"candidates", "references"}
        Captions to read, where a file holds both.
    names : sequence of str
        Names of columns in parameters of the user; a line or object with one of them is
        a header or a record.
    """

    def __init__(
        self, path: Path, role: Role = "candidates", names: Sequence[str] = ()
    ) -> None:
        self.path = path
        self.role: Role = role
        self.names = tuple(names)
        self.part = ""
        """Part of the file that the user names, ``FILE#PART``."""
        if isinstance(path, PartPath) and path.whole is not None:
            self.path = path.whole
            self.part = path.part
        self.location = str(self.path)
        self.key = ""
        """Key of the document below which the records are."""
        self.constants: InputError | None = None
        """Error for NaN or Infinity in the document, which the logs of some programs
        hold.
        """

    @cached_property
    def container(self) -> Container:
        """The make of the file; raise :class:`InputError` for an empty file and for
        broken JSON.
        """
        path = self.path
        if path.is_dir():
            return "folder"
        if is_parquet(path):
            return "parquet"
        with path.open("rb") as file:
            magic = file.read(4)
        if magic in (ZIP_MAGIC, OLE_MAGIC):
            return "archive" if magic == ZIP_MAGIC else "old-excel"

        # The name decides only where content cannot: a caption may begin with a bracket
        # (.txt), and broken JSON is no text file (.json).
        first = self._first_byte()
        if first == b"":
            raise InputError("the file is empty", str(path))
        if first in (b"[", b"{"):
            try:
                if first == b"{" and self._has_json_lines():
                    return "jsonl"
                return self._load()
            except InputError:
                if not plain_name(path).endswith(".txt"):
                    if first == b"[" and self._load_lists():
                        return "document"
                    raise
                if first == b"{":
                    self._check_dictionaries()
        elif plain_name(path).endswith(JSON_SUFFIXES):
            load_json(path)  # raises the error of what is no JSON
        return "text"

    def _check_dictionaries(self) -> None:
        """Raise :class:`InputError` for a text of dictionaries as Python prints
        them.
        """
        line = next((line for _, line in read_lines(self.path) if line.strip()), "")
        if re.match(r"\s*\{\s*(['\"])\w+\1\s*:", line):
            raise InputError(
                f"holds {line!r:.60}, no JSON; expected JSON, as json.dumps writes it",
                str(self.path),
            )

    def _first_byte(self) -> bytes:
        with open_binary(self.path) as file:
            head = file.read(4096)
        if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise binary_error(self.path, head)
        return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]

    def _has_json_lines(self) -> bool:
        """Return True where the first line is a JSON object and more lines follow."""
        with open_binary(self.path) as file:
            line = b""
            while not line.strip():
                line = file.readline(MAX_LINE + 1)
            if len(line) > MAX_LINE:
                return False
            further = iter(lambda: file.readline(1 << 20), b"")
            if not any(following.strip() for following in further):
                return False

        try:
            value = decode_json(line, self.location, constants=True)
        except InputError:
            return False
        return isinstance(value, dict)

    def _load(self) -> Container:
        """Load the document; with NaN or Infinity where it holds them, and the error
        for them.
        """
        try:
            self.document = load_json(self.path)
        except ConstantError as error:
            self.document = load_json(self.path, constants=True)
            self.constants = error
        return "document"

    def _load_lists(self) -> bool:
        """Load the lists of a file with one per line as a list of them; return False
        for a file with any other line.
        """
        lists: list[YamlValue] = []
        with open_binary(self.path) as file, suppress(InputError):
            for _, line in lines_of(file, self.location):
                if not line.strip():
                    continue
                value = decode_json(line, self.location, complete=True)
                if not isinstance(value, list):
                    return False
                lists.append(value)
            if len(lists) > 1:
                self.document = lists
                return True
        return False

    @cached_property
    def document(self) -> YamlValue:
        """The JSON value of a file that is one; None for any other file."""
        # Finding out what the file is made of loads the document and replaces this
        # property.
        return self.__dict__.get("document") if self.container == "document" else None

    @cached_property
    def shape(self) -> Shape:
        """Shape of the document, for forms of any columns."""
        return shape_of(self.document, self.role, self.names, self.location)

    def below(self) -> Sample | None:
        """Return the sample of the records that the document holds below a key; None
        where it does not.
        """
        if self.container != "document" or not self.shape.key:
            return None
        if not isinstance(self.shape.value, list):
            return None

        inner = Sample(self.path, self.role, self.names)
        inner.container = "document"
        inner.document = self.shape.value
        inner.location = self.shape.location
        inner.key = self.shape.key
        inner.part = self.part
        inner.constants = self.constants
        return inner

    @cached_property
    def table(self) -> str:
        """Name of the form of a file of text: ``csv``, ``tsv``, ``pairs``, ``flickr``,
        ``txt``; empty for any other file.
        """
        return text_form(self.path, self.names)[0] if self.container == "text" else ""

    @cached_property
    def spreadsheet(self) -> str:
        """``xlsx`` or ``ods`` for a spreadsheet; empty for any other file."""
        return spreadsheet_kind(self.path) if self.container == "archive" else ""

    @cached_property
    def _sheet_rows(self) -> list[Record]:
        return list(spreadsheet_rows(self.path, self.part))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The first lines of a file of text; none for any other file."""
        if self.container != "text":
            return ()
        return tuple(line for _, line in islice(read_lines(self.path), HEAD_LINES))

    @cached_property
    def records(self) -> tuple[Parameters, ...]:
        """Fields of the first records; empty for a file without records, and where one
        of them cannot be read.
        """
        if self.container == "document":
            document = self.document
            head = document[:HEAD] if isinstance(document, list) else [document]
            if not all(isinstance(item, dict) for item in head):
                return ()
            return cast("tuple[Parameters, ...]", tuple(head))

        is_table = self.table in ("csv", "tsv") or bool(self.spreadsheet)
        if self.container not in ("jsonl", "parquet") and not is_table:
            return ()
        try:
            rows = islice(self.rows(constants=True, head=True), HEAD)
            return tuple(row.fields for row in rows)
        except InputError:  # reported with its place when the records are read
            return ()

    def rows(self, *, constants: bool = False, head: bool = False) -> Iterator[Record]:
        """Yield all records, of a file that holds records.

        Parameters
        ----------
        constants : bool
            Accept NaN and Infinity in JSON; else they raise :class:`InputError`.
        head : bool
            Only the first ones are needed.
        """
        if self.container == "document":
            if self.constants is not None and not constants:
                raise self.constants
            if isinstance(self.document, dict):
                yield Record(f"{self.location}:1", self.document)
            else:
                yield from list_items(self.document, self.location)
        elif self.container == "jsonl":
            yield from json_lines(self.path, constants=constants)
        elif self.container == "parquet":
            yield from parquet_rows(self.path, batch=HEAD if head else None)
        elif self.spreadsheet:
            yield from self._sheet_rows
        else:
            yield from table_rows(self.path)

    def id_columns(self, fields: Parameters, prefix: str = "") -> list[str]:
        """Return the columns of a record that have a usual name of ids, or one that the
        user gave, with a prefix.
        """
        present = [
            prefix + name
            for name in FILE_ID_COLUMNS
            if isinstance(fields.get(prefix + name), (str, int, float))
        ]

        # The user's names may be those of captions too.
        captions = {*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS, *OTHER_CAPTIONS}
        of_user = [
            name
            for name in self.names
            if name not in captions and isinstance(fields.get(name), (str, int))
        ]
        return list(dict.fromkeys(of_user + present))
