"""Tables of text with a header line, CSV and TSV: all values as text.

The name of a file says that it is a table; its header says what separates its cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from harness.errors import InputError
from harness.files.delimited import CELL_QUOTE, tab_separated_cells
from harness.files.encodings import encoding_hint
from harness.files.fields import is_media_name, is_number
from harness.files.records import Record, check_columns
from harness.files.streams import lines_of
from harness.files.user_files import open_binary, plain_name

SUFFIXES = (".csv", ".tsv")
_ESCAPED = re.compile(r"""(?:^|[,;|])"[^"\r\n]*\\"[^,;|"\r\n]""")
"""A quotation mark behind a backslash within a quoted cell, as MySQL writes it."""


class _Header(NamedTuple):
    """The header of a table."""

    names: list[str]
    """Names of the columns, without those of empty columns behind the table."""
    width: int
    """Number of cells of each row."""
    delimiter: str
    line: int
    """Number of its line: 2 behind a line for Excel."""


def is_table_file(path: Path) -> bool:
    """Return True for a file whose name ends with ``.csv`` or ``.tsv``, compressed or
    not.
    """
    return plain_name(path).endswith(SUFFIXES)


def delimiter_of(header: str, path: Path) -> str:
    """Return the delimiter of a header line: a tab, else a comma, else a semicolon or
    ``|`` where the line has no comma.
    """
    if "\t" in header or ".tsv" in path.name.lower():
        return "\t"
    return next((mark for mark in (",", ";", "|") if mark in header), ",")


def header_cells(line: str, path: Path) -> list[str]:
    """Return the cells of a header line, without the blanks around them; empty for a
    line that is no row of a table.
    """
    try:
        return _strip_cells(line, delimiter_of(line, path))
    except csv.Error:
        return []


def _strip_cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line as the csv module reads it, without the blanks around
    them.
    """
    cells = next(csv.reader([line], delimiter=delimiter), list[str]())
    return [cell.strip() for cell in cells]


def delimited_rows(path: Path, *, quoted_tabs: bool = False) -> Iterator[Record]:
    """Yield the rows of a table, all values as text; an empty cell is None.

    Tabs separate where the name says ``.tsv`` or the header holds a tab; a cell between
    them may be quoted or not (:func:`~harness.files.delimited.tab_separated_cells`),
    with ``quoted_tabs`` as the csv module has it. Semicolons or ``|`` separate where
    the header holds them and no comma, and the mark of a line ``sep=;`` before the
    header, as Excel reads it.

    Raises :class:`InputError` with the line of a row of another length, a column that
    occurs twice, and bytes that are not UTF-8.
    """
    with (
        open_binary(path) as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        try:
            header = _read_header(text, path)
            lines = lines_of(text, str(path))
            if header.delimiter == "\t" and not quoted_tabs:
                rows = tab_separated_cells(lines, header.width)
            else:
                rows = _csv_cells(lines, header.delimiter)
            for number, row in _without_last_blank(rows):
                location = f"{path}:{header.line + number}"
                _check_row(row, header, location)
                fields = {name: cell or None for name, cell in zip(header.names, row)}
                yield Record(location, fields)
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8: {error.reason} at byte {error.start}{encoding_hint(path)}",
                str(path),
            ) from error
        except csv.Error as error:
            raise InputError(f"not readable as a table: {error}", str(path)) from error


def _read_header(text: IO[str], path: Path) -> _Header:
    """Return the header at the beginning of a table.

    Raises :class:`InputError` for an empty file, for more columns than a table has, and
    for a column that occurs twice.
    """
    # Excel writes the delimiter on a line of its own: sep=;
    first = text.readline()
    declared = re.fullmatch(r"sep=(.)\r?\n?", first)
    if declared:
        first = text.readline()
        delimiter = declared[1]
    else:
        delimiter = delimiter_of(first, path)
    cells = _strip_cells(first, delimiter)
    line = 2 if declared else 1

    # Spreadsheets write empty columns behind a table; a single column without a name
    # stays one.
    n_names = len(cells)
    while n_names > 2 and cells[n_names - 1] == cells[n_names - 2] == "":
        n_names -= 1
    if n_names < len(cells):
        n_names -= 1

    if not cells:
        raise InputError(
            "the file is empty; expected a header line and rows", str(path)
        )
    check_columns(path, len(cells))
    names = cells[:n_names]
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"the column '{name}' occurs twice", f"{path}:{line}")
    return _Header(names, len(cells), delimiter, line)


def _check_row(row: Sequence[str], header: _Header, location: str) -> None:
    """Raise :class:`InputError` for a row of another length than the header, and for a
    cell behind the columns that have names.
    """
    if len(row) != header.width:
        advice = ""
        if header.delimiter == "," and len(row) > header.width:
            advice = "; a cell with commas needs quotes"
        raise InputError(
            f"{len(row)} cells; expected {header.width}, as in the header{advice}",
            location,
        )
    if any(row[len(header.names) :]):
        raise InputError("a cell has no name of its column", location)


def _without_last_blank(
    rows: Iterator[tuple[int, list[str]]],
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table up to the last one with a cell that is not empty:
    spreadsheets write rows without content.
    """
    waiting: list[tuple[int, list[str]]] = []
    for number, row in rows:
        if not any(row):
            waiting.append((number, row))
            continue

        yield from waiting
        waiting.clear()
        yield number, row


def _csv_cells(
    lines: Iterator[tuple[int, str]], delimiter: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line and the cells of each row, as the csv module
    reads them; blank lines are left out.
    """
    record: list[str] = []
    """Lines of the row that is being read."""

    def lines_of_row() -> Iterator[str]:
        for _, line in lines:
            record.append(line)
            yield line

    reader = csv.reader(
        lines_of_row(), delimiter=delimiter, skipinitialspace=delimiter == "|"
    )
    for row in reader:
        if len(record) > 1 or CELL_QUOTE in record[0]:
            _check_quotes(record, row, delimiter)
        record.clear()
        if row:
            yield reader.line_num, row


def _check_quotes(record: Sequence[str], row: Sequence[str], delimiter: str) -> None:
    """Raise :class:`csv.Error` for the lines of a row in which a quoted cell is not
    closed, or holds further rows, and for quotation marks behind a backslash.
    """
    if any(_ESCAPED.search(line) for line in record):
        raise csv.Error(
            "a quotation mark stands behind a backslash; within a quoted cell "
            f"it is doubled: {record[0].rstrip()!r:.60}"
        )

    if len(record) < 2 and not (row and row[-1].endswith("\n")):
        return
    follows = ""
    if _is_id(row[0]):
        follows = next(
            (line for line in record[1:] if _is_row(line, row, delimiter)), ""
        )
    if follows or _is_open(record, delimiter):
        lines = f", as {follows.rstrip()!r:.60}" if follows else ""
        raise csv.Error(
            f"the quotation mark in {record[0].rstrip()!r:.60} is not closed: "
            f"its cell holds the lines below{lines}"
        )


def _is_open(record: Sequence[str], delimiter: str) -> bool:
    """Return True for lines that end within a quoted cell, as the last row of a file
    may: the csv module accepts it.
    """
    try:
        list(csv.reader(record, delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _is_row(line: str, row: Sequence[str], delimiter: str) -> bool:
    """Return True for a line that has the cells of a row, and an id in the first."""
    cells = line.split(delimiter)
    return len(cells) >= len(row) and _is_id(cells[0])


def _is_id(cell: str) -> bool:
    """Return True for a cell that can only be an id: a number, or the name of a
    file.
    """
    return is_number(cell) or is_media_name(cell)
