"""Spreadsheets that are refused before they are read, and formulas."""

from __future__ import annotations

import zipfile

import pytest

from harness.errors import InputError
from harness.files.forms import existing_captions, read_form
from tests.support.spreadsheets import write_ods, write_xlsx


def rows(path, role="candidates"):
    return [dict(row.fields) for row in read_form(existing_captions(path), role).rows]


def message(path):
    with pytest.raises(InputError) as caught:
        rows(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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
    text = message(path)
    assert "bytes of the spreadsheet expand to 20," in text
    assert "save it as CSV (UTF-8)" in text


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
