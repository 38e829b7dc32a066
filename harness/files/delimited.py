"""Records of comma- and tab-separated files with a header line, gzipped or not."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from harness.errors import InputError
from harness.files.records import Record, open_binary

SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


def is_table_file(path: Path) -> bool:
    """Return True for a file whose name ends with ``.csv`` or ``.tsv``, or the same with ``.gz``."""
    return path.name.lower().endswith(SUFFIXES)


def delimiter_of(header: str, path: Path) -> str:
    """Return the delimiter of a header line: a tab, else a comma, else a semicolon or ``|`` where the line has no comma."""
    if "\t" in header or ".tsv" in path.name.lower():
        return "\t"
    return next((mark for mark in (",", ";", "|") if mark in header), ",")


def header_cells(line: str, path: Path) -> list[str]:
    """Return the cells of a header line, without the blanks around them; empty for a line that is no row of a table."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter_of(line, path)), list[str]())]
    except csv.Error:
        return []


def delimited_rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a table, all values as text; an empty cell is None.

    Tabs separate where the name says ``.tsv`` or the header holds a tab; quotes are then plain characters. Semicolons or ``|``
    separate where the header holds them and no comma.

    Raises :class:`InputError` with the line of a row of another length, a column that occurs twice, and bytes that are not UTF-8.
    """
    with open_binary(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        try:
            first = text.readline()
            delimiter = delimiter_of(first, path)
            header = header_cells(first, path)
            if not header:
                raise InputError("the file is empty; expected a header line and rows", str(path))
            twice = next((name for k, name in enumerate(header) if name in header[:k]), None)
            if twice is not None:
                raise InputError(f"the column '{twice}' occurs twice", f"{path}:1")
            # Tab-separated files of captions are written without quoting: a quotation mark at the start of a caption is text there, and
            # taken for a quote it would swallow the following lines.
            quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
            reader = csv.reader(text, delimiter=delimiter, quoting=quoting, skipinitialspace=delimiter == "|")
            for row in reader:
                location = f"{path}:{reader.line_num + 1}"
                if not row:
                    continue
                if len(row) != len(header):
                    quotes = "; a cell with commas needs quotes" if delimiter == "," and len(row) > len(header) else ""
                    raise InputError(f"{len(row)} cells; expected {len(header)}, as in the header{quotes}", location)
                yield Record(location, {name: cell or None for name, cell in zip(header, row)})
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8: {error.reason} at byte {error.start}", str(path)) from error
        except csv.Error as error:
            raise InputError(f"not readable as a table: {error}", str(path)) from error
