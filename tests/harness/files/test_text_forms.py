"""Lines of text files as records with their places."""

from __future__ import annotations

import pytest

from harness.files.text_forms import line_rows, table_rows, text_form, two_column_rows


def test_places_are_lines(tmp_path):
    path = tmp_path / "f"
    path.write_text("a\n\nb\n")
    assert [(row.where, row.fields["caption"]) for row in line_rows(path)] == [
        (f"{path}:1", "a"), (f"{path}:2", ""), (f"{path}:3", "b"),
    ]  # fmt: skip
    path.write_text("1\tx\ty\n")
    assert [dict(row.fields) for row in two_column_rows(path)] == [{"id": "1", "caption": "x\ty"}]
    path.write_text("id,caption\n1,a\n")
    assert [row.where for row in table_rows(path)] == [f"{path}:2"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("image,caption", "csv"),
        ("id\tcaption", "tsv"),
        ("7\tcaption of it", "pairs"),
        ("a caption", "txt"),
        ("caption", "txt"),
    ],
)
def test_a_header_names_a_column_of_ids_and_one_of_captions(tmp_path, line, name):
    (tmp_path / "f").write_text(f"{line}\n")
    assert text_form(tmp_path / "f")[0] == name
