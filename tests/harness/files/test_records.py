"""Records of files, and one-line errors with the place in the file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.files.records import kind, parquet_rows, records
from harness.files.strict_json import load_json


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


def test_gzip_is_detected_by_content(tmp_path):
    path = write(tmp_path / "no_suffix", gzip.compress(b'[{"a": 1}]'))
    assert load_json(path) == [{"a": 1}]
    assert [row.fields for row in records(path)] == [{"a": 1}]


def test_json_lines_name_line_and_byte(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": 1}\n\n{"id": 2, "x": [1\n')
    text = message(records, path)
    assert text.startswith(f"{path}:3: not JSON at byte 28: Expecting ',' delimiter")
    assert text.endswith("(the line breaks off after 17 bytes)")


def test_json_lines_of_lists_are_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": 1}\n[1]\n')
    assert message(records, path) == f"{path}:2: found a list; expected an object"


def test_json_list_names_the_record(tmp_path):
    path = write(tmp_path / "a.json", '[{"id": 1}, "dog"]')
    assert message(records, path) == f"{path}: record 2: found text; expected an object"


def test_kinds_of_values():
    values = [None, True, 3, 0.5, "a", [], {}, b"x"]
    assert [kind(value) for value in values] == [
        "null",
        "true",
        "the number 3",
        "the number 0.5",
        "text",
        "a list",
        "an object",
        "a bytes",
    ]


def test_parquet_rows(tmp_path):
    path = tmp_path / "rows"
    pq.write_table(pa.table({"id": [1, 2], "captions": [["a"], ["b", "c"]]}), path)
    assert [row.fields for row in records(path)] == [
        {"id": 1, "captions": ["a"]},
        {"id": 2, "captions": ["b", "c"]},
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
def test_a_file_in_a_parquet_column_is_its_path(tmp_path, text):
    image = pa.struct([("bytes", pa.binary()), ("path", text)])
    cells = [{"bytes": b"x" * 9, "path": "1.jpg"}, {"bytes": b"y", "path": None}, None]
    table = pa.table(
        {
            "caption": ["a", "b", "c"],
            "image": pa.array(cells, image),
            "region": [{"x": 1, "path": "p"}] * 3,
            "image.path": ["q", "r", "s"],
        }
    )
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    rows = [row.fields for row in parquet_rows(path)]
    assert [row["image"] for row in rows] == ["1.jpg", None, None]
    assert rows[0] == {
        "caption": "a",
        "image": "1.jpg",
        "region": {"x": 1, "path": "p"},
        "image.path": "q",
    }


def test_parquet_of_many_more_rows_than_bytes(tmp_path, monkeypatch):
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": pa.array(["a"] * 200_000)}), file)
    assert len(list(parquet_rows(file))) == 200_000
    monkeypatch.setattr("harness.files.records.UNCHECKED_ROWS", 100_000)
    size = file.stat().st_size
    expected = (
        f"{file}: the {size:,} bytes expand to 200,000 rows; if that is right, "
        "write them as JSON Lines"
    )
    assert message(parquet_rows, file) == expected
    pq.write_table(pa.table({"id": [str(k) for k in range(150_000)]}), file)
    assert len(list(parquet_rows(file))) == 150_000


def test_broken_parquet(tmp_path):
    path = write(tmp_path / "a.parquet", b"PAR1 and then nothing of use")
    assert message(records, path).startswith(
        f"{path}: not readable as Parquet after record 0: "
    )
