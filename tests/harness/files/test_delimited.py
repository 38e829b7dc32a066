"""Comma- and tab-separated records."""

import gzip
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.files.delimited import delimited_rows, is_table_file


def test_names():
    assert is_table_file(Path("a.csv")) and is_table_file(Path("b.TSV.gz")) and not is_table_file(Path("c.json"))


def test_rows(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeffid,text\n1,"a, ""b"""\n\n2,\n', encoding="utf-8")
    assert [(r.where.rpartition(":")[2], dict(r.fields)) for r in delimited_rows(tmp_path / "a.csv")] == [
        ("2", {"id": "1", "text": 'a, "b"'}),
        ("4", {"id": "2", "text": None}),
    ]
    with gzip.open(tmp_path / "b.tsv.gz", "wt", encoding="utf-8") as file:
        file.write('id\ttext\n1\t"an open quote\n2\tb\n')
    assert [r.fields["text"] for r in delimited_rows(tmp_path / "b.tsv.gz")] == ['"an open quote', "b"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1\n", "t.csv:2: 1 cells; expected 2"),
        (b"a,a\n1,2\n", "the column 'a' occurs twice"),
        (b"", "the file is empty"),
        (b"a,b\n\xff,1\n", "not UTF-8"),
    ],
)
def test_mistakes(tmp_path, data, message):
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(delimited_rows(tmp_path / "t.csv"))
