"""Tables of text with a header line, CSV and TSV: all values as text.

The name of a file says that it is a table; its header says what separates its cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.errors import InputError
from harness.files.delimited import tab_separated_cells
from harness.files.encodings import encoding_hint
from harness.files.records import Record, check_columns
from harness.files.streams import lines_of
from harness.files.user_files import open_binary, plain_name

SUFFIXES = (".csv", ".tsv")


def is_table_file(path: Path) -> bool:
    """Return True for a file whose name ends with ``.csv`` or ``.tsv``,
    compressed or not.
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
        return [
            cell.strip()
            for cell in next(
                csv.reader([line], delimiter=delimiter_of(line, path)), list[str]()
            )
        ]
    except csv.Error:
        return []


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
            first = text.readline()
            declared = re.fullmatch(r"sep=(.)\r?\n?", first)
            before = 1 if declared else 0
            first = text.readline() if declared else first
            delimiter = declared[1] if declared else delimiter_of(first, path)
            header = [
                cell.strip()
                for cell in next(csv.reader([first], delimiter=delimiter), list[str]())
            ]
            named = len(header)
            # empty columns behind a table of a spreadsheet
            while named > 2 and header[named - 1] == header[named - 2] == "":
                named -= 1
            named -= named < len(header)
            if not header:
                raise InputError(
                    "the file is empty; expected a header line and rows", str(path)
                )
            check_columns(path, len(header))
            twice = next(
                (name for name, count in Counter(header[:named]).items() if count > 1),
                None,
            )
            if twice is not None:
                raise InputError(
                    f"the column '{twice}' occurs twice", f"{path}:{before + 1}"
                )
            lines = lines_of(text, str(path))
            plain_tabs = delimiter == "\t" and not quoted_tabs
            rows = (
                tab_separated_cells(lines, len(header))
                if plain_tabs
                else _csv_cells(lines, delimiter)
            )
            for number, row in _without_last_blank(rows):
                location = f"{path}:{before + number + 1}"
                if len(row) != len(header):
                    quotes = (
                        "; a cell with commas needs quotes"
                        if delimiter == "," and len(row) > len(header)
                        else ""
                    )
                    raise InputError(
                        f"{len(row)} cells; expected {len(header)}, "
                        f"as in the header{quotes}",
                        location,
                    )
                if any(row[named:]):
                    raise InputError("a cell has no name of its column", location)
                yield Record(
                    location,
                    {name: cell or None for name, cell in zip(header[:named], row)},
                )
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8: {error.reason} at byte {error.start}{encoding_hint(path)}",
                str(path),
            ) from error
        except csv.Error as error:
            raise InputError(f"not readable as a table: {error}", str(path)) from error


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
    reader = csv.reader(
        (line for _, line in lines),
        delimiter=delimiter,
        skipinitialspace=delimiter == "|",
    )
    for row in reader:
        if row:
            yield reader.line_num, row
