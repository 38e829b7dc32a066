"""Records of files, and one-line errors with the place in the file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files import records as files
from harness.files.records import delimited_rows, is_table_file


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


def test_missing_file_names_the_nearest(tmp_path):
    write(tmp_path / "captions_val2014.json", "{}")
    text = message(
        files.existing,
        str(tmp_path / "captions_val2041.json"),
        "file of COCO annotations",
    )
    assert text == (
        f"{tmp_path}/captions_val2041.json: no such file of COCO annotations; "
        "did you mean 'captions_val2014.json'?"
    )


def test_path_errors_name_the_parameter(tmp_path):
    write(tmp_path / "captions.json", "{}")
    with pytest.raises(InputError) as caught:
        files.existing(tmp_path / "caption.json", parameter="corpus")
    error = caught.value
    assert (error.parameter, error.value) == ("corpus", str(tmp_path / "caption.json"))
    assert "did you mean 'captions.json'?" in str(error)


def test_folders_are_refused(tmp_path):
    assert (
        message(files.existing, str(tmp_path))
        == f"{tmp_path}: is a folder; expected a file"
    )


def test_path_of_another_type():
    assert (
        message(files.existing, None) == "the path of the file is None; expected text"
    )


def test_truncated_json_names_the_byte(tmp_path):
    path = write(tmp_path / "a.json", '[{"caption": "é"}, {"cap')
    text = message(files.load_json, path)
    assert (
        text
        == f"{path}: not JSON at byte 21: Unterminated string starting at (the file "
        "breaks off after 25 bytes)"
    )


def test_invalid_json_names_the_byte(tmp_path):
    path = write(tmp_path / "a.json", '{"a": dog}')
    assert (
        message(files.load_json, path) == f"{path}: not JSON at byte 6: Expecting value"
    )


def test_empty_file(tmp_path):
    path = write(tmp_path / "a.json", "")
    assert (
        message(files.load_json, path)
        == f"{path}: not JSON at byte 0: Expecting value (the file is empty)"
    )


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_nan_is_refused(tmp_path, name):
    path = write(tmp_path / "a.json", f'[{{"score": {name}}}]')
    assert (
        message(files.load_json, path)
        == f"{path}: record 1: 'score': found {name}; JSON numbers are finite"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("NaN", ""),
        ('{"b": ["NaN, [", 1, NaN]}', ": 'b': record 3"),
        (
            '{"images": [{"id": 1}], "annotations": [{"a": {"x": [1]}}, {"id": 2, '
            '"caption": NaN}]}',
            ": 'annotations': record 2: 'caption'",
        ),
        ('[[1, 2], {"k\\"": -Infinity}]', ": record 2: 'k\\\"'"),
    ],
)
def test_nan_names_its_record(tmp_path, text, place):
    path = write(tmp_path / "a.json", text)
    assert message(files.load_json, path).startswith(f"{path}{place}: found ")


def test_bytes_that_are_not_utf8(tmp_path):
    path = write(tmp_path / "a.json", b'["caf\xe9"]')
    assert message(files.load_json, path).startswith(f"{path}: not UTF-8 at byte 5: ")
    path = write(tmp_path / "b.json", '["café"]'.encode("utf-16"))
    assert message(files.load_json, path).endswith(
        " (UTF-16; convert it: iconv -f UTF-16 -t UTF-8 " + f"{path} > NEW)"
    )


def test_nested_too_deeply(tmp_path):
    path = write(tmp_path / "a.json", "[" * 200_000)
    assert message(files.load_json, path).startswith(f"{path}: not readable as JSON: ")


def test_byte_order_mark_is_skipped(tmp_path):
    assert files.load_json(write(tmp_path / "a.json", b"\xef\xbb\xbf[1]")) == [1]


def test_gzip_is_detected_by_content(tmp_path):
    path = write(tmp_path / "no_suffix", gzip.compress(b'[{"a": 1}]'))
    assert files.load_json(path) == [{"a": 1}]
    assert [row.fields for row in files.records(path)] == [{"a": 1}]


def test_truncated_gzip(tmp_path):
    path = write(
        tmp_path / "a.json.gz",
        gzip.compress(json.dumps(list(range(5000))).encode())[:-200],
    )
    assert message(files.load_json, path).startswith(
        f"{path}: the gzip file is broken or cut off: "
    )


def test_json_lines_name_line_and_byte(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": 1}\n\n{"id": 2, "x": [1\n')
    text = message(files.records, path)
    assert text.startswith(f"{path}:3: not JSON at byte 28: Expecting ',' delimiter")
    assert text.endswith("(the line breaks off after 17 bytes)")


def test_json_lines_of_lists_are_refused(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"id": 1}\n[1]\n')
    assert message(files.records, path) == f"{path}:2: found a list; expected an object"


def test_json_list_names_the_record(tmp_path):
    path = write(tmp_path / "a.json", '[{"id": 1}, "dog"]')
    assert (
        message(files.records, path)
        == f"{path}: record 2: found text; expected an object"
    )


def test_keys_that_occur_twice_are_refused_in_whole_files(tmp_path):
    path = write(tmp_path / "a.json", '{"a": {"1": 2, "1": 3}}')
    assert (
        message(files.load_json, path)
        == f"{path}: the key '1' occurs twice in one object"
    )


def test_first_byte(tmp_path):
    for content, expected in (("  [1]", b"["), ('\n{"a": 1}', b"{"), ("", b"")):
        assert files.first_byte(write(tmp_path / "a", content)) == expected


def test_kinds_of_values():
    values = [None, True, 3, 0.5, "a", [], {}, b"x"]
    assert [files.kind(value) for value in values] == [
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
    assert [row.fields for row in files.records(path)] == [
        {"id": 1, "captions": ["a"]},
        {"id": 2, "captions": ["b", "c"]},
    ]


def test_parquet_of_many_more_rows_than_bytes(tmp_path, monkeypatch):
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": pa.array(["a"] * 200_000)}), file)
    assert len(list(files.parquet_rows(file))) == 200_000
    monkeypatch.setattr(files, "UNCHECKED_ROWS", 100_000)
    size = file.stat().st_size
    expected = (
        f"{file}: the {size:,} bytes expand to 200,000 rows; if that is right, "
        "write them as JSON Lines"
    )
    assert message(files.parquet_rows, file) == expected
    pq.write_table(pa.table({"id": [str(k) for k in range(150_000)]}), file)
    assert len(list(files.parquet_rows(file))) == 150_000


@pytest.mark.parametrize("name", ["wide.csv", "wide.tsv", "wide.parquet"])
def test_more_columns_than_a_table_has(tmp_path, name):
    file = tmp_path / name
    names = [f"c{k}" for k in range(10_001)]
    if name.endswith("parquet"):
        pq.write_table(pa.table({column: ["a"] for column in names}), file)
    else:
        mark = "," if name.endswith("csv") else "\t"
        write(file, f"{mark.join(names)}\n{mark.join(names)}\n")
    read = files.parquet_rows if name.endswith("parquet") else files.delimited_rows
    assert (
        message(read, file)
        == f"{file}: found 10,001 columns; a table has at most 10,000"
    )


def test_broken_parquet(tmp_path):
    path = write(tmp_path / "a.parquet", b"PAR1 and then nothing of use")
    assert message(files.records, path).startswith(
        f"{path}: not readable as Parquet after record 0: "
    )


def test_fingerprint_depends_on_content_and_parameters(tmp_path):
    path = write(tmp_path / "a.json", "[1]")
    first = files.fingerprint("coco", [path], {"k": 1})
    assert first == files.fingerprint("coco", [path], {"k": 1})
    assert first != files.fingerprint("coco", [path], {"k": 2})
    write(path, "[2]")
    assert first != files.fingerprint("coco", [path], {"k": 1})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_written_json_is_read_back(value):
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    assert files.decode_json(data, "here") == value


@given(st.binary(max_size=60))
def test_other_bytes_raise_an_input_error(data):
    try:
        json.loads(
            data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"),
            parse_constant=lambda name: 1 / 0,
        )
    except (ValueError, ZeroDivisionError):
        with pytest.raises(InputError, match=r"^here: "):
            files.decode_json(data, "here", complete=True)
    else:
        files.decode_json(data, "here", complete=True)


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
