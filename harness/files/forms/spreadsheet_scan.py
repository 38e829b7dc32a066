"""Scan of a spreadsheet before it is read.

A workbook is a zip archive of XML, which a small file can blow up: by its compression,
by a cell far away from all others, by repeated cells. The archive is scanned for its
size, for the extent of its sheets, and for formulas without a stored value.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from harness.errors import InputError
from harness.files.records import MOST_COLUMNS
from harness.files.streams import MAX_RATIO, UNCHECKED_BYTES, readable

UNCHECKED_CELLS = 1_000_000
"""Number of cells that the extent of a sheet may have whatever it holds."""
MOST_EMPTY = 20
"""Maximum number of cells of the extent of a larger sheet for each cell that holds
something.
"""
_CHUNK = 1 << 16
_REFERENCE = re.compile(r"([A-Z]{1,4})(\d{1,9})")
"""Name of a cell: the letters of its column and the number of its row."""
_ODS_CELLS = ("table:table-cell", "table:covered-table-cell")


@dataclass
class Sheet:
    """Extent and content of a sheet, as a scan of it found them."""

    rows: int = 0
    """Number of the last row with content."""
    columns: int = 0
    """Number of the last column with content."""
    filled: int = 0
    """Number of cells with content."""
    bare_formula: str = ""
    """First cell with a formula and no stored value."""

    def add(self, row: int, column: int, rows: int = 1, columns: int = 1) -> None:
        """Count cells with content that begin in a row and a column."""
        self.rows = max(self.rows, row + rows - 1)
        self.columns = max(self.columns, column + columns - 1)
        self.filled += 1


def _check_size(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise :class:`InputError` for an archive that expands to more than
    :data:`MAX_RATIO` times its size.
    """
    size = sum(item.file_size for item in archive.infolist())
    packed = sum(item.compress_size for item in archive.infolist())
    if size > max(UNCHECKED_BYTES, MAX_RATIO * packed):
        raise InputError(
            f"the {packed:,} bytes of the spreadsheet expand to {size:,}; "
            "save it as CSV (UTF-8)",
            str(path),
        )


def _parse(
    archive: zipfile.ZipFile, name: str, start: Any, end: Any = None, text: Any = None
) -> None:
    """Send the elements of a member to functions; a document type, which may hold
    entities that grow, is refused.
    """
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise ValueError("XML with a document type")

    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    parser.StartElementHandler = start
    if end is not None:
        parser.EndElementHandler = end
    if text is not None:
        parser.CharacterDataHandler = text
    with archive.open(name) as file:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)


def _column_number(letters: str) -> int:
    """Return the number of a column from 1.

    >>> _column_number("A"), _column_number("AB")
    (1, 28)
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


class _XlsxCell:
    """Cell of an Excel workbook, as far as its elements were read."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.has_formula = False
        self.has_value = False
        self.in_value = False
        """True between the beginning and the end of its value."""


class _XlsxScan:
    """Handlers of the elements of a sheet of an Excel workbook."""

    def __init__(self) -> None:
        self.sheet = Sheet()
        self.row = 0
        self.column = 0
        self.cell = _XlsxCell("", "")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        tag = tag.rpartition(":")[2]
        if tag == "row":
            # A row without a number follows the one before.
            number = attributes.get("r", "")
            self.row = int(number) if number.isdecimal() else self.row + 1
            self.column = 0
        elif tag == "c":
            self._start_cell(attributes)
        elif tag == "f":
            self.cell.has_formula = True
        elif tag in ("v", "is"):
            # Excel stores the empty text of a formula as an empty value of the type
            # text.
            self.cell.in_value = True
            self.cell.has_value = self.cell.kind == "str"

    def _start_cell(self, attributes: dict[str, str]) -> None:
        # A cell without a name follows the one before.
        match = _REFERENCE.fullmatch(attributes.get("r", ""))
        if match:
            self.row = int(match[2])
            self.column = _column_number(match[1])
        else:
            self.row = max(1, self.row)
            self.column += 1
        name = attributes.get("r", f"row {self.row}")
        self.cell = _XlsxCell(name, attributes.get("t", ""))

    def text(self, data: str) -> None:
        """Take the text of an element."""
        if self.cell.in_value:
            self.cell.has_value = True

    def end(self, tag: str) -> None:
        """End an element."""
        tag = tag.rpartition(":")[2]
        cell = self.cell
        if tag in ("v", "is"):
            cell.in_value = False
        elif tag == "c":
            if cell.has_formula and not cell.has_value:
                self.sheet.bare_formula = self.sheet.bare_formula or cell.name
            if cell.has_formula or cell.has_value:
                self.sheet.add(self.row, self.column)


def _scan_xlsx_sheet(archive: zipfile.ZipFile, name: str) -> Sheet:
    """Return extent, number of cells and the first formula without a value of a
    sheet.
    """
    scan = _XlsxScan()
    _parse(archive, name, scan.start, scan.end, scan.text)
    return scan.sheet


def _xlsx_members(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return sheet -> member of the archive."""
    sheets: dict[str, str] = {}
    """Sheet -> id of its relationship."""
    targets: dict[str, str] = {}
    """Id of a relationship -> what it points to."""

    def add_sheet(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "sheet":
            ids = [v for key, v in attributes.items() if key.rpartition(":")[2] == "id"]
            sheets[attributes.get("name", "")] = ids[0] if ids else ""

    def add_target(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    names = set(archive.namelist())
    if "xl/workbook.xml" in names:
        _parse(archive, "xl/workbook.xml", add_sheet)
    if "xl/_rels/workbook.xml.rels" in names:
        _parse(archive, "xl/_rels/workbook.xml.rels", add_target)
    members = {name: _member(targets.get(key, "")) for name, key in sheets.items()}
    return {name: member for name, member in members.items() if member in names}


def _member(target: str) -> str:
    """Return the member of an archive that a relationship of its workbook points to."""
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


class _OdsScan:
    """Handlers of the elements of the content of an OpenDocument spreadsheet.

    Rows and cells stand for as many as they are repeated; the next one begins behind
    them.
    """

    def __init__(self) -> None:
        self.sheets: dict[str, Sheet] = {}
        self.sheet: Sheet | None = None
        self.row = 0
        self.rows = 1
        """Number of rows that the current one stands for."""
        self.column = 0
        self.columns = 1
        """Number of cells that the current one stands for."""
        self.in_paragraph = False
        self.has_text = False
        self.has_formula = False
        self.has_value = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if tag == "table:table":
            self.sheet = Sheet()
            self.sheets[attributes.get("table:name", "")] = self.sheet
            self.row = 0
            self.rows = 0
        elif tag == "table:table-row":
            self.row = (self.row + self.rows) or 1
            self.rows = _repetitions(attributes, "rows")
            self.column = 1
            self.columns = 0
        elif tag in _ODS_CELLS:
            self._start_cell(attributes)
        elif tag == "text:p":
            self.in_paragraph = True

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self.column += self.columns
        self.columns = _repetitions(attributes, "columns")
        self.has_text = False
        self.has_formula = "table:formula" in attributes

        # A text is stored as paragraphs: its type alone is no value of a formula.
        is_stored = any(
            key.startswith("office:") and key.endswith("value") for key in attributes
        )
        is_string = attributes.get("office:value-type") == "string"
        self.has_value = is_stored or (is_string and not self.has_formula)

    def text(self, data: str) -> None:
        """Take the text of an element."""
        self.has_text = self.has_text or self.in_paragraph

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "text:p":
            self.in_paragraph = False
        elif tag in _ODS_CELLS and self.sheet is not None:
            has_result = self.has_value or self.has_text
            if self.has_formula and not has_result:
                name = f"{_letters(self.column)}{self.row}"
                self.sheet.bare_formula = self.sheet.bare_formula or name
            if self.has_formula or has_result:
                self.sheet.add(self.row, self.column, self.rows, self.columns)


def _repetitions(attributes: dict[str, str], name: str) -> int:
    """Return how often a row or cell is repeated."""
    number = attributes.get(f"table:number-{name}-repeated", "1")
    return int(number) if number.isdecimal() else 1


def _scan_ods(archive: zipfile.ZipFile) -> dict[str, Sheet]:
    """Return sheet -> what a scan of it found."""
    scan = _OdsScan()
    _parse(archive, "content.xml", scan.start, scan.end, scan.text)
    return scan.sheets


def _letters(number: int) -> str:
    """Return the letters of a column from its number from 1."""
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(65 + letter) + text
    return text


def scan_sheets(path: Path) -> dict[str, Sheet]:
    """Return sheet -> what a scan of it found; raise :class:`InputError` for an archive
    that expands too much.
    """
    with readable(path, "spreadsheet"), zipfile.ZipFile(path) as archive:
        _check_size(path, archive)
        try:
            if "content.xml" in archive.namelist():
                return _scan_ods(archive)
            return {
                name: _scan_xlsx_sheet(archive, member)
                for name, member in _xlsx_members(archive).items()
            }
        except expat.ExpatError as error:
            raise InputError(
                f"not a complete spreadsheet ({error})", str(path)
            ) from error


def check_sheet(sheet: Sheet, name: str, path: Path) -> None:
    """Raise :class:`InputError` for a sheet of too many columns, of cells far away from
    others, and with formulas without a value.
    """
    where = f"{path}: sheet '{name}'"
    if sheet.columns > MOST_COLUMNS:
        raise InputError(
            f"found {sheet.columns:,} columns; a table has at most {MOST_COLUMNS:,}",
            where,
        )

    extent = sheet.rows * sheet.columns
    if extent > max(UNCHECKED_CELLS, MOST_EMPTY * sheet.filled):
        last = f"{_letters(sheet.columns)}{sheet.rows}"
        raise InputError(
            f"has {sheet.filled:,} cells with content, "
            f"and they reach to {last} ({extent:,} cells); "
            "save the table as CSV (UTF-8)",
            where,
        )

    if sheet.bare_formula:
        raise InputError(
            f"cell {sheet.bare_formula} has a formula without a stored value; "
            "open the file in a spreadsheet program and save it again",
            where,
        )
