"""Tables of text with a header line: rows, delimiters, mistakes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.files.delimited_tables import delimited_rows, is_table_file
from harness.files.records import parquet_rows


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def message(call, *args) -> str:
    with pytest.raises(InputError) as caught:
        result = call(*args)
        if not isinstance(result, (dict, list, Path)):
            list(result)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["wide.csv", "wide.tsv", "wide.parquet"])
def test_more_columns_than_a_table_has(tmp_path, name):
    file = tmp_path / name
    names = [f"c{k}" for k in range(10_001)]
    if name.endswith("parquet"):
        pq.write_table(pa.table({column: ["a"] for column in names}), file)
    else:
        mark = "," if name.endswith("csv") else "\t"
        write(file, f"{mark.join(names)}\n{mark.join(names)}\n")
    read = parquet_rows if name.endswith("parquet") else delimited_rows
    assert (
        message(read, file)
        == f"{file}: found 10,001 columns; a table has at most 10,000"
    )


def test_names():
    assert (
        is_table_file(Path("a.csv"))
        and is_table_file(Path("b.TSV.gz"))
        and not is_table_file(Path("c.json"))
    )


def test_rows(tmp_path):
    (tmp_path / "a.csv").write_text(
        '\ufeffid,text\n1,"a, ""b"""\n\n2,\n', encoding="utf-8"
    )
    assert [
        (r.where.rpartition(":")[2], dict(r.fields))
        for r in delimited_rows(tmp_path / "a.csv")
    ] == [
        ("2", {"id": "1", "text": 'a, "b"'}),
        ("4", {"id": "2", "text": None}),
    ]
    with gzip.open(tmp_path / "b.tsv.gz", "wt", encoding="utf-8") as file:
        file.write('id\ttext\n1\t"an open quote\n2\tb\n')
    assert [r.fields["text"] for r in delimited_rows(tmp_path / "b.tsv.gz")] == [
        '"an open quote',
        "b",
    ]


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


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("sep=;", "id;caption\n1;a, b\n"),
        ("sep=|", "id|caption\n1|a, b\n"),
        ("sep=\t", "id\tcaption\n1\ta, b\n"),
    ],
)
def test_the_line_for_excel_before_a_header_names_the_delimiter(tmp_path, line, rows):
    path = write(tmp_path / "a.csv", f"{line}\r\n{rows}")
    assert list(delimited_rows(path)) == [(f"{path}:3", {"id": "1", "caption": "a, b"})]


def test_a_table_that_is_not_utf8_names_the_command(tmp_path):
    path = write(tmp_path / "a.csv", "id,caption\n1,un café\n".encode("cp1252"))
    assert message(delimited_rows, path).endswith(
        f"(CP1252; convert it: iconv -f CP1252 -t UTF-8 {path} > NEW)"
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (
            '1,"a dog\n2,a cat\n3,a bus\n',
            r"""'1,"a dog' is not closed: .*, as '2,a cat'""",
        ),
        ('1,"a dog\n2,a "big" cat\n3,"a bus"\n', "is not closed"),
        ('a.jpg,"a dog\nb.jpg,a cat\n', "is not closed: .*, as 'b.jpg,a cat'"),
        ('1,"a dog\nand so on\n', "is not closed: its cell holds the lines below"),
        ('1,"a \\"red\\" bus"\n', "a quotation mark stands behind a backslash"),
    ],
)
def test_a_quoted_cell_that_takes_further_rows_is_refused(tmp_path, rows, reason):
    path = write(tmp_path / "a.csv", f"id,caption\n{rows}")
    with pytest.raises(InputError, match=reason):
        list(delimited_rows(path))


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ('1,"a dog\nand a cat"\n2,b\n', ["a dog\nand a cat", "b"]),
        ('1,"one\n2 dogs, a cat"\n', ["one\n2 dogs, a cat"]),
        ('1,"C:\\new\\"\n2,"b"\n', ["C:\\new\\", "b"]),
        ('1,5\\" pipe\n', ['5\\" pipe']),
        ('1,a "big" cat\n', ['a "big" cat']),
    ],
)
def test_other_quoted_cells_are_read(tmp_path, rows, texts):
    path = write(tmp_path / "a.csv", f"id,caption\n{rows}")
    assert [row.fields["caption"] for row in delimited_rows(path)] == texts
