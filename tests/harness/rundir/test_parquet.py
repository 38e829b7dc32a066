"""Parquet: columns by name, row groups, damaged files."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.rundir import parquet
from harness.rundir.parquet import (
    LISTS,
    NUMBERS,
    TEXTS,
    column_kinds,
    encode_columns,
    read_codes,
    read_column,
    read_numbers,
    read_table,
    row_count,
    table_of,
)

COLUMNS = {
    "a.b": [1.0, None, 3.0],
    "text": ["x", "y", "z"],
    "lists": [["p"], [], ["q", "r"]],
}


def test_columns_come_back_by_name_in_row_groups(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(encode_columns(COLUMNS, [(0, 2), (2, 1)]))
    assert column_kinds(file) == {"a.b": NUMBERS, "text": TEXTS, "lists": LISTS}
    assert {name: read_column(file, name) for name in COLUMNS} == COLUMNS
    assert pq.ParquetFile(file).num_row_groups == 2
    assert row_count(file) == 3 and read_table(file).to_pydict() == COLUMNS


def test_kinds_of_columns(tmp_path):
    file = tmp_path / "t.parquet"
    time = datetime(2020, 1, 1)
    columns = {
        "whole": [1],
        "real": [0.5],
        "nothing": [None],
        "text": ["a"],
        "texts": [["a"]],
        "empty": [[None]],
        "truth": [True],
    }
    file.write_bytes(
        encode_columns(
            columns | {"numbers": [[1]], "times": [[time]], "deep": [[["a"]]]}, [(0, 1)]
        )
    )
    kinds = column_kinds(file)
    assert [kinds[name] for name in columns] == [
        NUMBERS,
        NUMBERS,
        NUMBERS,
        TEXTS,
        LISTS,
        LISTS,
        "bool",
    ]
    assert [kinds[name].partition("<")[0] for name in ("numbers", "times", "deep")] == [
        "list"
    ] * 3


def test_numbers_are_read_from_all_row_groups_with_nan_for_missing_ones(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(
        encode_columns(
            {"whole": [1, None, 3], "real": [0.5, 1.5, 2.5], "text": ["b", "a", "b"]},
            [(0, 2), (2, 1)],
        )
    )
    assert (
        read_numbers(file, "whole").dtype
        == read_numbers(file, "real").dtype
        == np.float64
    )
    np.testing.assert_array_equal(read_numbers(file, "whole"), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(read_numbers(file, "real"), [0.5, 1.5, 2.5])
    texts, codes = read_codes(file, "text")
    assert [texts[code] for code in codes] == ["b", "a", "b"] and sorted(texts) == [
        "a",
        "b",
    ]
    with pytest.raises(
        InputError, match="is damaged .*; run the spec again to rebuild it"
    ):
        read_numbers(file, "text")


def test_whole_columns_are_read(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(encode_columns(COLUMNS, [(0, 3)]))
    assert [read_column(file, name, whole=True) for name in ("text", "lists")] == [
        COLUMNS["text"],
        COLUMNS["lists"],
    ]


def test_memory_for_the_table_and_the_file_is_asked_for(tmp_path, monkeypatch):
    sizes: list[int] = []
    monkeypatch.setattr(parquet, "require_memory", sizes.append)
    (tmp_path / "t.parquet").write_bytes(encode_columns(COLUMNS, [(0, 3)]))
    assert sizes == [2 * table_of(COLUMNS).nbytes]


@pytest.mark.parametrize("keep", [0, 3, 40])
def test_a_truncated_file_is_one_line(tmp_path, keep):
    file = tmp_path / "t.parquet"
    file.write_bytes(encode_columns(COLUMNS, [(0, 3)]))
    file.write_bytes(file.read_bytes()[:keep])
    for read in (
        column_kinds,
        read_table,
        row_count,
        lambda path: read_column(path, "text"),
        lambda path: read_codes(path, "text"),
        lambda path: read_numbers(path, "a.b"),
    ):
        with pytest.raises(
            InputError, match="is damaged .*; run the spec again to rebuild it"
        ):
            read(file)


def test_missing_values_of_whole_columns_are_damage(tmp_path):
    file = tmp_path / "t.parquet"
    file.write_bytes(
        encode_columns(
            {"number": [1.0, None], "text": ["x", None], "lists": [["p"], [None]]},
            [(0, 2)],
        )
    )
    assert read_column(file, "number") == [1.0, None]
    for read in (
        lambda: read_column(file, "text", whole=True),
        lambda: read_column(file, "lists", whole=True),
        lambda: read_codes(file, "text"),
    ):
        with pytest.raises(
            InputError, match=r"is damaged \(column '(text|lists)' has missing values\)"
        ):
            read()


def test_texts_that_are_no_utf8_are_damage(tmp_path):
    file = tmp_path / "t.parquet"
    texts = pa.array([b"a", b"\xe8b"]).cast(pa.binary()).view(pa.string())
    pq.write_table(pa.table({"model": texts}), file)
    for read in (read_table, lambda path: read_codes(path, "model")):
        with pytest.raises(InputError, match="is damaged"):
            read(file)
