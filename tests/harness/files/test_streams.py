"""Compressed input with a bound on its content, lines with a bound on their length,
and pipes as input files.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pytest

from harness.cli.main import main
from harness.errors import InputError
from harness.files import streams
from harness.files.delimited_tables import delimited_rows, is_table_file
from harness.files.forms import text_form
from harness.files.records import json_lines, records
from harness.files.streams import check_expansion, lines_of, readable, spool_pipe
from harness.files.strict_json import load_json
from harness.files.user_files import existing, open_binary

RECORD = b'{"id": "a", "references": ["a dog"], "candidates": ["a cat"]}\n'


@pytest.fixture
def bomb(tmp_path):
    """A record, and 64 MiB of blank lines, in 65 KB."""
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(RECORD + b"\n" * (64 << 20)))
    return path


@pytest.mark.first_case_fast
@pytest.mark.slow
@pytest.mark.parametrize(
    "read",
    [
        lambda path: list(json_lines(path)),
        lambda path: load_json(path),
        lambda path: list(text_form(path)[1]),
        lambda path: list(delimited_rows(path)),
    ],
)
def test_a_gzip_file_that_expands_without_bound_is_refused_in_one_line(bomb, read):
    with pytest.raises(
        InputError,
        match=r"bomb.jsonl.gz: the gzip file expands to more than 200 times its size",
    ) as caught:
        read(bomb)
    assert "\n" not in str(caught.value)


def zstandard(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@pytest.mark.slow
def test_a_zst_file_that_expands_without_bound_is_refused_in_one_line(tmp_path):
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard(RECORD + b"\n" * (64 << 20)))
    with pytest.raises(
        InputError,
        match=r"bomb.zst: the zst file expands to more than 200 times its size; "
        r"if that is right, unzstd it",
    ):
        list(json_lines(path))


def test_zst_files_are_found_by_their_content(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = RECORD + RECORD.replace(b'"a"', b'"b"')
    path.write_bytes(zstandard(lines[:30]) + zstandard(lines[30:]))
    assert [row.fields["id"] for row in json_lines(path)] == ["a", "b"]
    table = tmp_path / "a.tsv.zst"
    table.write_bytes(zstandard(b"id\tcaption\n1\ta dog\n"))
    assert is_table_file(table) and [
        row.fields["caption"] for row in delimited_rows(table)
    ] == ["a dog"]


def test_a_zst_file_that_was_cut_off(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        zstandard(
            b"".join(
                RECORD.replace(b"dog", os.urandom(40).hex().encode())
                for _ in range(500)
            )
        )[:-40]
    )
    with pytest.raises(
        InputError, match=r"a.jsonl: the zst file is broken or cut off: "
    ):
        list(json_lines(path))


@pytest.mark.slow
def test_the_bound_is_on_what_was_read_and_not_on_the_file(tmp_path):
    path = tmp_path / "texts.gz"
    texts = "".join(
        json.dumps({"id": str(k), "references": [f"a dog runs {k}"]}) + "\n"
        for k in range(400_000)
    ).encode()
    path.write_bytes(gzip.compress(texts, 1))
    assert len(texts) > streams.UNCHECKED_BYTES
    with open_binary(path) as file:
        assert file.read() == texts


@pytest.mark.slow
def test_a_small_file_may_have_any_ratio(tmp_path):
    path = tmp_path / "blank.gz"
    path.write_bytes(gzip.compress(b"\n" * (1 << 20)))
    assert list(json_lines(path)) == []


def test_a_long_line_is_refused_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE", 100)
    assert list(lines_of(io.BytesIO(b"a\n" + b"b" * 99 + b"\nc"), "f")) == [
        (1, b"a\n"),
        (2, b"b" * 99 + b"\n"),
        (3, b"c"),
    ]
    with pytest.raises(
        InputError,
        match=r"f:2: the line is longer than 0 MiB; expected one record per line",
    ):
        list(lines_of(io.StringIO("a\n" + "b" * 101), "f"))


def test_arrays_may_be_constant_but_not_huge(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.zeros(1 << 20))
    with zipfile.ZipFile(path) as archive:
        check_expansion(archive)
        monkeypatch.setattr(streams, "UNCHECKED_ARRAY_BYTES", 1 << 20)
        with pytest.raises(ValueError, match="bytes expand to 8,388,736"):
            check_expansion(archive)


@pytest.mark.parametrize(
    "content", [RECORD, gzip.compress(RECORD, mtime=0), b"[" + RECORD.strip() + b"]"]
)
def test_a_pipe_is_an_input_file_of_any_form(tmp_path, content, capsys):
    (tmp_path / "refs.jsonl").write_bytes(RECORD)

    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(content)
    try:
        references = str(tmp_path / "refs.jsonl")
        candidates = f"/dev/fd/{reading}"
        assert (
            main(["score", candidates, "--references", references, "-m", "bleu1"]) == 0
        )
    finally:
        os.close(reading)

    assert f"│ {reading} " in capsys.readouterr().out


def test_several_components_read_one_pipe_without_a_name():
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(RECORD)
    first, second = (existing(f"/dev/fd/{reading}") for _ in range(2))
    assert first.read_bytes() == second.read_bytes() == RECORD
    assert str(first) == f"/dev/fd/{reading}"
    assert [record.where for record in records(second)] == [f"/dev/fd/{reading}:1"]
    os.close(reading)


def test_a_named_pipe_is_read_again_with_other_content(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for content in (b"first", b"second"):
        writer = threading.Thread(
            target=(tmp_path / "pipe").write_bytes, args=(content,)
        )
        writer.start()
        assert spool_pipe(tmp_path / "pipe").read_bytes() == content
        writer.join()


def test_a_device_is_no_input_file():
    with pytest.raises(InputError, match="/dev/zero: no such file"):
        existing("/dev/zero")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("first\nsecond"), r"f: not a complete \.npz \(first\)$"),
        (EOFError(), r"f: not a complete \.npz \(EOFError\)$"),
        (zlib.error("bad"), r"\(bad\)$"),
        (RecursionError("deep"), r"\(deep\)$"),
        (
            MemoryError("9 TB"),
            r"asks for more memory than there is \(3 bytes on disk; 9 TB\); "
            r"not a complete \.npz\?$",
        ),
        (MemoryError(), r"more memory than there is \(3 bytes on disk\)"),
    ],
)
def test_one_line_with_the_path(tmp_path, monkeypatch, error, message):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    Path("f").write_bytes(b"abc")
    with pytest.raises(InputError, match=message), readable(Path("f"), ".npz"):
        raise error


def test_other_errors_and_no_error_pass(tmp_path):
    with pytest.raises(InputError, match="^mine$"), readable(tmp_path, "x"):
        raise InputError("mine")
    with readable(tmp_path, "x"):
        pass
