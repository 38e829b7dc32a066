"""Scan of a spreadsheet before it is read.

A workbook is a zip archive of XML, which a small file can blow up: by its compression,
by a cell far away from all others, by repeated cells. The archive is scanned for its
size, for the extent of its sheets, and for formulas without a stored value.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
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


@dataclass
class Sheet:
    """What a scan of a sheet found."""

    rows: int = 0
    """Number of the last row with content."""
    columns: int = 0
    filled: int = 0
    """Number of cells with content."""
    bare_formula: str = ""
    """First cell with a formula and no stored value."""
    _here: list[int] = field(default_factory=lambda: [0, 0])

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


def _scan_xlsx_sheet(archive: zipfile.ZipFile, name: str) -> Sheet:
    """Return extent, number of cells and the first formula without a value of a
    sheet.
    """
    sheet = Sheet()
    place = [0, 0]
    cell: dict[str, Any] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if tag == "row":
            number = attributes.get("r", "")
            place[:] = [int(number) if number.isdecimal() else place[0] + 1, 0]
        elif tag == "c":
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            place[:] = (
                [int(match[2]), _column_number(match[1])]
                if match
                else [max(1, place[0]), place[1] + 1]
            )
            cell.clear()
            cell.update(
                name=attributes.get("r", f"row {place[0]}"),
                kind=attributes.get("t", ""),
                formula=False,
                value=False,
                inside="",
            )
        elif tag == "f":
            cell["formula"] = True
        elif tag in ("v", "is"):
            cell["inside"] = tag
            # Excel stores the empty text of a formula as an empty value of the type
            # text.
            cell["value"] = cell.get("kind") == "str"

    def text(data: str) -> None:
        if cell.get("inside"):
            cell["value"] = True

    def end(tag: str) -> None:
        tag = tag.rpartition(":")[2]
        if tag in ("v", "is"):
            cell["inside"] = ""
        elif tag == "c":
            if cell["formula"] and not cell["value"]:
                sheet.bare_formula = sheet.bare_formula or cell["name"]
            if cell["formula"] or cell["value"]:
                sheet.add(*place)

    _parse(archive, name, start, end, text)
    return sheet


def _xlsx_members(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return sheet -> member of the archive."""
    sheets: dict[str, str] = {}
    targets: dict[str, str] = {}

    def sheet(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "sheet":
            relation = next(
                (
                    value
                    for key, value in attributes.items()
                    if key.rpartition(":")[2] == "id"
                ),
                "",
            )
            sheets[attributes.get("name", "")] = relation

    def relation(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    names = set(archive.namelist())
    if "xl/workbook.xml" in names:
        _parse(archive, "xl/workbook.xml", sheet)
    if "xl/_rels/workbook.xml.rels" in names:
        _parse(archive, "xl/_rels/workbook.xml.rels", relation)
    members = {name: _member(targets.get(key, "")) for name, key in sheets.items()}
    return {name: member for name, member in members.items() if member in names}


def _member(target: str) -> str:
    """Return the member of an archive that a relationship of its workbook points to."""
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _scan_ods(archive: zipfile.ZipFile) -> dict[str, Sheet]:
    """Return sheet -> what a scan of it found."""
    sheets: dict[str, Sheet] = {}
    current = {
        "name": "",
        "row": 0,
        "rows": 1,
        "column": 0,
        "columns": 1,
        "paragraph": False,
        "text": False,
        "formula": False,
        "value": False,
    }

    def repeated(attributes: dict[str, str], name: str) -> int:
        number = attributes.get(f"table:number-{name}-repeated", "1")
        return int(number) if number.isdecimal() else 1

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "table:table":
            current.update(name=attributes.get("table:name", ""), row=0, rows=0)
            sheets[str(current["name"])] = Sheet()
        elif tag == "table:table-row":
            current.update(
                row=current["row"] + current["rows"],
                rows=repeated(attributes, "rows"),
                column=1,
                columns=0,
            )
            current["row"] = current["row"] or 1
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            current.update(
                column=current["column"] + current["columns"],
                columns=repeated(attributes, "columns"),
                text=False,
            )
            current["formula"] = "table:formula" in attributes
            stored = any(
                key.startswith("office:") and key.endswith("value")
                for key in attributes
            )
            current["value"] = stored or (
                attributes.get("office:value-type") == "string"
                and not current["formula"]
            )
        elif tag == "text:p":
            current["paragraph"] = True

    def text(data: str) -> None:
        current["text"] = current["text"] or current["paragraph"]

    def end(tag: str) -> None:
        if tag == "text:p":
            current["paragraph"] = False
        elif (
            tag in ("table:table-cell", "table:covered-table-cell")
            and current["name"] in sheets
        ):
            sheet = sheets[str(current["name"])]
            if current["formula"] and not (current["value"] or current["text"]):
                sheet.bare_formula = (
                    sheet.bare_formula
                    or f"{_letters(int(current['column']))}{current['row']}"
                )
            if current["formula"] or current["value"] or current["text"]:
                sheet.add(
                    int(current["row"]),
                    int(current["column"]),
                    int(current["rows"]),
                    int(current["columns"]),
                )

    _parse(archive, "content.xml", start, end, text)
    return sheets


def _letters(number: int) -> str:
    """Return the letters of a column from its number from 1."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def scan_sheets(path: Path) -> dict[str, Sheet]:
    """Return sheet -> what a scan of it found;
    raise :class:`InputError` for an archive that expands too much.
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
