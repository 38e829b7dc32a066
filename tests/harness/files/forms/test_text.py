"""Forms of text: lines, tables, and lines that begin with an id."""

from __future__ import annotations

import gzip

import pytest

from harness.errors import InputError
from harness.files.forms.text import (
    line_rows,
    plain_column,
    read_lines,
    table_rows,
    text_form,
    two_column_rows,
    video_line_rows,
)


def test_places_are_lines(tmp_path):
    path = tmp_path / "f"
    path.write_text("a\n\nb\n")
    assert [(row.where, row.fields["caption"]) for row in line_rows(path)] == [
        (f"{path}:1", "a"),
        (f"{path}:2", ""),
        (f"{path}:3", "b"),
    ]
    path.write_text("1\tx\ty\n")
    assert [dict(row.fields) for row in two_column_rows(path)] == [
        {"id": "1", "caption": "x\ty"}
    ]
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


def test_lines_of_clips(tmp_path):
    path = tmp_path / "f"
    path.write_text("vid_1_5  a dog\n\nvid_2_7 a cat\n")
    assert [dict(row.fields) for row in video_line_rows(path)] == [
        {"id": "vid_1_5", "caption": "a dog"},
        {"id": "vid_2_7", "caption": "a cat"},
    ]
    path.write_text("vid_1_5 a dog\na cat\n")
    with pytest.raises(InputError, match="f:2: found 'a cat'; expected an id such as"):
        list(video_line_rows(path))


def test_other_ends_of_lines_are_part_of_a_caption(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(gzip.compress("\ufeffa\u2028b\r\nc\x0bd".encode()))
    assert list(read_lines(path)) == [(1, "a\u2028b"), (2, "c\x0bd")]


def test_a_line_for_excel_stands_before_the_header(tmp_path):
    path = tmp_path / "f"
    path.write_text("sep=;\nid;caption\n1;a, b\n")
    name, rows = text_form(path)
    assert name == "csv"
    assert [dict(row.fields) for row in rows] == [{"id": "1", "caption": "a, b"}]


def test_names_of_columns_are_compared_without_their_spelling():
    assert plain_column("Image ID") == plain_column("image_id") == "imageid"
