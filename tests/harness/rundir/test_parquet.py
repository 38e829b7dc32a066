"""Parquet: columns by name, row groups, damaged files."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.rundir import parquet
from harness.rundir.parquet import (
    LISTS,
    NUMBERS,
    TEXTS,
    column_kinds,
    read_codes,
    read_column,
    read_table,
    row_count,
    table_of,
    write_columns,
)

COLUMNS = {"a.b": [1.0, None, 3.0], "text": ["x", "y", "z"], "lists": [["p"], [], ["q", "r"]]}


def test_columns_come_back_by_name_in_row_groups(tmp_path):
    file = tmp_path / "t.parquet"
    write_columns(file, COLUMNS, [(0, 2), (2, 1)])
    assert column_kinds(file) == {"a.b": NUMBERS, "text": TEXTS, "lists": LISTS}
    assert {name: read_column(file, name) for name in COLUMNS} == COLUMNS
    assert pq.ParquetFile(file).num_row_groups == 2
    assert row_count(file) == 3 and read_table(file).to_pydict() == COLUMNS


def test_memory_for_the_table_and_the_file_is_asked_for(tmp_path, monkeypatch):
    sizes: list[int] = []
    monkeypatch.setattr(parquet, "require_memory", sizes.append)
    write_columns(tmp_path / "t.parquet", COLUMNS, [(0, 3)])
    assert sizes == [2 * table_of(COLUMNS).nbytes]


@pytest.mark.parametrize("keep", [0, 3, 40])
def test_a_truncated_file_is_one_line(tmp_path, keep):
    file = tmp_path / "t.parquet"
    write_columns(file, COLUMNS, [(0, 3)])
    file.write_bytes(file.read_bytes()[:keep])
    for read in (column_kinds, read_table, row_count, lambda path: read_column(path, "text"), lambda path: read_codes(path, "text")):
        with pytest.raises(InputError, match="is damaged .*; run the spec again to rebuild it"):
            read(file)


def test_missing_values_of_whole_columns_are_damage(tmp_path):
    file = tmp_path / "t.parquet"
    write_columns(file, {"number": [1.0, None], "text": ["x", None], "lists": [["p"], [None]]}, [(0, 2)])
    assert read_column(file, "number") == [1.0, None]
    for read in (
        lambda: read_column(file, "text", whole=True),
        lambda: read_column(file, "lists", whole=True),
        lambda: read_codes(file, "text"),
    ):
        with pytest.raises(InputError, match=r"is damaged \(column '(text|lists)' has missing values\)"):
            read()
