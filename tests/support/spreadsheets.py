"""Small spreadsheets, written by hand: workbooks of Excel and of OpenDocument."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def xlsx_cell(name: str, value: object) -> str:
    """Return the XML of a cell; a text that begins with ``<`` is its content."""
    if isinstance(value, str) and value.startswith("<"):
        return f'<c r="{name}">{value}</c>'
    if isinstance(value, str):
        return f'<c r="{name}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return "" if value is None else f'<c r="{name}"><v>{value}</v></c>'


def write_xlsx(
    path: Path, sheets: Mapping[str, Sequence[Sequence[object]]], extra: str = ""
) -> Path:
    """Write a workbook of some sheets; ``extra`` are further rows as XML in each of
    them.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        numbers = range(1, len(sheets) + 1)
        archive.writestr(
            "[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types"/>'
        )

        document = (
            f'<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" '
            'Target="xl/workbook.xml"/>'
        )
        archive.writestr(
            "_rels/.rels",
            "<Relationships "
            f'xmlns="{PACKAGE}/relationships">{document}</Relationships>',
        )

        entries = "".join(
            f'<sheet name="{name}" sheetId="{k}" r:id="rId{k}"/>'
            for k, name in zip(numbers, sheets)
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" '
            f'xmlns:r="{RELATIONS}"><sheets>{entries}</sheets></workbook>',
        )

        kind = f"{RELATIONS}/worksheet"
        links = "".join(
            f'<Relationship Id="rId{k}" Type="{kind}" '
            f'Target="worksheets/sheet{k}.xml"/>'
            for k in numbers
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
        )

        for number, rows in zip(numbers, sheets.values()):
            lines = [
                f'<row r="{r}">'
                + "".join(
                    xlsx_cell(f"{chr(64 + c)}{r}", value)
                    for c, value in enumerate(row, 1)
                )
                + "</row>"
                for r, row in enumerate(rows, 1)
            ]
            content = "".join(lines) + extra
            archive.writestr(
                f"xl/worksheets/sheet{number}.xml",
                "<worksheet "
                f'xmlns="{MAIN}"><sheetData>{content}</sheetData></worksheet>',
            )
    return path


def write_ods(
    path: Path, sheets: Mapping[str, Sequence[Sequence[str]]], extra: str = ""
) -> Path:
    """Write a spreadsheet of OpenDocument; ``extra`` are further rows as XML in each
    sheet.
    """
    tables = ""
    for name, rows in sheets.items():
        cells = "".join(
            "<table:table-row>"
            + "".join(
                "<table:table-cell "
                f'office:value-type="string"><text:p>{escape(text)}</text:p></table:table-cell>'
                for text in row
            )
            + "</table:table-row>"
            for row in rows
        )
        tables += f'<table:table table:name="{name}">{cells}{extra}</table:table>'

    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    body = (
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    )

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}>{body}</office:document-content>",
        )
    return path
