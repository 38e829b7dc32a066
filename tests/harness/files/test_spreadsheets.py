"""Spreadsheets as tables: values as text, sheets by name, and workbooks that a small
file blows up.
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
