"""Spreadsheets as tables: values as text, sheets by name,
and workbooks that a small file blows up.
"""

from __future__ import annotations

import sys
import zipfile

import pytest

from harness.errors import InputError, MissingExtra
from harness.files.forms import existing_captions, read_form
from tests.support.spreadsheets import write_ods, write_xlsx

ROWS = [
    ["image_id", "caption", "note"],
    [1, 'a "red" bus', None],
    [2.5, 42, "x"],
    [],
    [73, "=a cat", ""],
]


def rows(path, role="candidates"):
    return [dict(row.fields) for row in read_form(existing_captions(path), role).rows]


def message(path):
    with pytest.raises(InputError) as caught:
        rows(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_values_are_texts_as_csv_has_them(tmp_path):
    path = write_xlsx(tmp_path / "file.out", {"S": ROWS})
    form = read_form(path, "candidates")
    assert form.name == "xlsx"
    assert [dict(row.fields) for row in form.rows] == [
        {"image_id": "1", "caption": 'a "red" bus', "note": ""},
        {"image_id": "2.5", "caption": "42", "note": "x"},
        {"image_id": "73", "caption": "=a cat", "note": ""},
    ]
    assert [row.where for row in read_form(path, "candidates").rows] == [
        f"{path}: sheet 'S': row {k}" for k in (2, 3, 5)
    ]
    path = write_ods(tmp_path / "o", {"S": [["id", "caption"], ["1", "a dog"]]})
    assert read_form(path, "references").name == "ods" and rows(path) == [
        {"id": "1", "caption": "a dog"}
    ]


def test_a_sheet_of_several_is_named_after_the_path(tmp_path):
    sheets = {
        "first": [["id", "caption"], [1, "a"]],
        "the second": [["id", "caption"], [1, "b"]],
        "empty": [],
    }
    for path in (
        write_xlsx(tmp_path / "a.xlsx", sheets),
        write_ods(
            tmp_path / "a.ods",
            {k: [list(map(str, r)) for r in v] for k, v in sheets.items()},
        ),
    ):
        assert (
            message(path)
            == f"{path}: has 2 sheets with content: 'first', 'the second'; "
            f"name one of them: '{path}#first'"
        )
        assert rows(f"{path}#the second") == [{"id": "1", "caption": "b"}]
        assert message(f"{path}#secnd").startswith(f"{path}: no sheet 'secnd'")
        assert "the sheet is empty" in message(f"{path}#empty")
    one = write_xlsx(
        tmp_path / "b.xlsx", {"empty": [], "full": [["id", "caption"], [1, "a"]]}
    )
    assert rows(one) == [{"id": "1", "caption": "a"}]


def test_formulas_give_their_stored_values_and_are_refused_without_one(tmp_path):
    stored = [["id", "caption"], [1, "<f>A1</f><v>7</v>"]]
    assert rows(write_xlsx(tmp_path / "a", {"S": stored})) == [
        {"id": "1", "caption": "7"}
    ]
    for content in ("<f>A1</f>", "<f>A1</f><v></v>", '<f t="shared" si="0"/><v/>'):
        path = write_xlsx(tmp_path / "a", {"S": [["id", "caption"], [1, content]]})
        assert (
            f"{path}: sheet 'S': cell B2 has a formula without a stored value; "
            "open the file" in message(path)
        )
    path = write_ods(
        tmp_path / "o",
        {"S": [["id", "caption"]]},
        '<table:table-row><table:table-cell table:formula="of:=A1"/></table:table-row>',
    )
    assert "cell A2 has a formula without a stored value" in message(path)


def test_a_stored_empty_text_of_a_formula_is_a_value(tmp_path):
    path = write_xlsx(
        tmp_path / "a",
        {"S": [["id", "caption"], [1, "a"]]},
        '<row r="3"><c r="A3" t="str"><f>B9</f><v></v></c><c r="B3"><v>1</v></c></row>',
    )
    assert rows(path)[-1] == {"id": "", "caption": "1"}


@pytest.mark.parametrize("cell", ["B1048576", "ZZ40000", "XFD1048576"])
def test_cells_far_from_all_others_are_refused(tmp_path, cell):
    row = cell.lstrip("ABCDEFXYZ")
    path = write_xlsx(
        tmp_path / "a.xlsx",
        {"S": [["id", "caption"], [1, "a"]]},
        f'<row r="{row}"><c r="{cell}"><v>1</v></c></row>',
    )
    assert (
        "found 16,384 columns" in message(path)
        if cell.startswith("X")
        else f"they reach to {cell} (" in message(path)
    )


def test_repeated_cells_of_open_document_are_refused(tmp_path):
    repeated = (
        "<table:table-row "
        'table:number-rows-repeated="1048570"><table:table-cell><text:p>x</text:p></table:table-cell>'
    )
    path = write_ods(
        tmp_path / "a.ods",
        {"S": [["id", "caption"], ["1", "a"]]},
        f"{repeated}</table:table-row>",
    )
    assert "they reach to B1048572 (" in message(path)
    empty = (
        '<table:table-row table:number-rows-repeated="1048570"><table:table-cell '
        'table:number-columns-repeated="1024"/></table:table-row>'
    )
    path = write_ods(tmp_path / "b.ods", {"S": [["id", "caption"], ["1", "a"]]}, empty)
    assert rows(path) == [{"id": "1", "caption": "a"}]


def test_archives_that_expand_too_much_are_refused(tmp_path):
    path = write_xlsx(
        tmp_path / "a.xlsx", {"S": [["id", "caption"], [1, "a" * (20 << 20)]]}
    )
    assert "bytes of the spreadsheet expand to 20," in message(
        path
    ) and "save it as CSV (UTF-8)" in message(path)


def test_entities_that_grow_are_refused(tmp_path):
    path = write_xlsx(tmp_path / "a.xlsx", {"S": [["id", "caption"]]})
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["xl/worksheets/sheet1.xml"] = (
        b'<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        + members["xl/worksheets/sheet1.xml"]
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert (
        message(path)
        == f"{path}: not a complete spreadsheet (XML with a document type)"
    )


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (["id", "caption", "id"], "the column 'id' occurs twice"),
        (["id", "", ""], "two columns have no name in the header row"),
    ],
)
def test_headers_that_name_no_columns(tmp_path, header, text):
    assert message(write_xlsx(tmp_path / "a", {"S": [header, [1, "a", "b"]]})).endswith(
        f"sheet 'S': {text}"
    )


def test_files_of_excel_that_are_not_read_name_the_remedy(tmp_path):
    path = tmp_path / "a.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert message(path).endswith(
        "is a file of Excel 97 (.xls), or has a password; "
        "save it as .xlsx without one, or as CSV (UTF-8)"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    assert message(path).endswith(
        "is a binary workbook of Excel (.xlsb); save it as .xlsx, or as CSV (UTF-8)"
    )
    whole = write_xlsx(tmp_path / "b.xlsx", {"S": ROWS}).read_bytes()
    path.write_bytes(whole[:-40])
    assert "not a complete zip archive" in message(path)


def test_the_extra_is_named_where_it_is_not_installed(tmp_path, monkeypatch):
    path = write_xlsx(tmp_path / "a.xlsx", {"S": ROWS})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        MissingExtra,
        match=r"needs the package 'python_calamine'.*: pip install "
        r"'caption-harness\[spreadsheets\]'",
    ):
        rows(path)
