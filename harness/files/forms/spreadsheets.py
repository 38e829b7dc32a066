"""Forms of spreadsheets: Excel workbooks (``.xlsx``) and OpenDocument (``.ods``).

Values alone are read, as text, with a header row, after a scan of the archive
(:mod:`harness.files.forms.spreadsheet_scan`).
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError, did_you_mean, require
from harness.files.captions import quote_list
from harness.files.forms.spreadsheet_scan import check_sheet, scan_sheets
from harness.files.records import Record
from harness.files.streams import readable

EXTRA = "spreadsheets"


def spreadsheet_kind(path: Path) -> str:
    """Return ``xlsx`` or ``ods`` for a zip archive that is a spreadsheet; empty for
    another one.
    """
    with readable(path, "zip archive"), zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        if "xl/workbook.xml" in names:
            return "xlsx"
        if "xl/workbook.bin" in names:
            raise InputError(
                "is a binary workbook of Excel (.xlsb); save it as .xlsx, "
                "or as CSV (UTF-8)",
                str(path),
            )
        if "mimetype" in names and "content.xml" in names:
            with archive.open("mimetype") as file:
                return "ods" if b"opendocument.spreadsheet" in file.read(200) else ""
    return ""


def choose_sheet(path: Path, part: str) -> str:
    """Return the sheet of a workbook that is read: the one that the user names, or the
    only one with content.

    Raises
    ------
    InputError
        No sheet of this name, no content, several sheets with content, and a sheet that
        :func:`spreadsheet_rows` would not read.
    """
    sheets = scan_sheets(path)
    filled = [name for name, sheet in sheets.items() if sheet.filled]
    if part and part not in sheets:
        raise InputError(
            f"no sheet '{part}'{did_you_mean(part, list(sheets))}; "
            f"found {quote_list(sheets, 10)}",
            str(path),
        )
    if not part and not filled:
        raise InputError("the spreadsheet is empty", str(path))
    if not part and len(filled) > 1:
        raise InputError(
            f"has {len(filled)} sheets with content: {quote_list(filled, 10)}; "
            f"name one of them: '{path}#{filled[0]}'",
            str(path),
        )

    name = part or filled[0]
    check_sheet(sheets[name], name, path)
    return name


def spreadsheet_rows(path: Path, part: str = "") -> Iterator[Record]:
    """Yield the rows of a sheet below its header, all values as text; an empty cell is
    an empty text.

    Raises
    ------
    InputError
        As :func:`choose_sheet`; for a damaged file, columns without a name or with the
        same one.
    MissingExtra
        Without the package ``python-calamine``.
    """
    python_calamine = require(
        "python_calamine",
        extra=EXTRA,
        needed_by=f"{path} is a spreadsheet (or save it as CSV in UTF-8), which",
    )
    name = choose_sheet(path, part)
    where = f"{path}: sheet '{name}'"
    errors = (
        python_calamine.CalamineError,
        python_calamine.PasswordError,
        python_calamine.ZipError,
        python_calamine.XmlError,
    )
    with readable(path, "spreadsheet"):
        try:
            with path.open("rb") as file:
                book = python_calamine.CalamineWorkbook.from_filelike(file)
                sheet = book.get_sheet_by_name(name)
            cells = sheet.to_python(skip_empty_area=True)
            first = sheet.start[0] + 1 if sheet.start else 1
        except errors as error:
            raise InputError(
                f"not a complete spreadsheet ({error})", str(path)
            ) from error

    if not cells:
        raise InputError("the sheet is empty; expected a header row and rows", where)
    header = [_cell_text(cell).strip() for cell in cells[0]]
    columns = _columns(header, cells, where)
    for number, row in enumerate(cells[1:], first + 1):
        texts = {header[column]: _cell_text(row[column]) for column in columns}
        if any(texts.values()):
            yield Record(f"{where}: row {number}", texts)


def _columns(
    header: Sequence[str], cells: Sequence[Sequence[Any]], where: str
) -> list[int]:
    """Return the positions of the columns; one without a name and without content is
    none.
    """
    filled = [
        position
        for position, name in enumerate(header)
        if name or any(row[position] not in ("", None) for row in cells[1:])
    ]
    for name, count in Counter(header[position] for position in filled).items():
        if count > 1 and not name:
            raise InputError("two columns have no name in the header row", where)
        if count > 1:
            raise InputError(f"the column '{name}' occurs twice", where)
    return filled


def _cell_text(value: Any) -> str:
    """Return the value of a cell as CSV has it.

    >>> _cell_text(3.0), _cell_text(0.5), _cell_text(True), _cell_text(None)
    ('3', '0.5', 'TRUE', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    from datetime import date, time  # two milliseconds, for spreadsheets alone

    if isinstance(value, (date, time)):
        return value.isoformat()
    return str(value)
